"""Strides of results, told without computing them, are those that the kernels give."""

from contextlib import nullcontext
from itertools import product

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.utils._pytree import tree_leaves

from dovetail.dialects.torch_facts.kernel_layouts import KERNELS, KernelLayouts, as_kernel_lays_out

SIZE = (2, 6, 4, 4)
LAYOUTS = {
    "rows": lambda x: x,
    "channels last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "reversed": lambda x: x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
    "expanded": lambda x: x[:, :1].expand(SIZE),
}
ONE = {
    "logsigmoid": functional.logsigmoid,
    "power of a number": lambda x: 2.0**x,
    "index_fill": lambda x: x.index_fill(1, torch.arange(1), 0.5),
    "index_fill with a tensor": lambda x: x.index_fill(1, torch.arange(1), torch.tensor(0.5)),
    "isin": lambda x: torch.isin(x, torch.ones(3)),
    "roll": lambda x: x.roll(1, 0),
    "roll of two": lambda x: x.roll((1, 2), (1, 2)),
    "roll with a whole turn": lambda x: x.roll((4, 1), (2, 0)),
    "roll of whole turns": lambda x: x.roll((-2, 8), (0, 3)),
    "roll of all": lambda x: x.roll(7),
    "channel_shuffle": lambda x: functional.channel_shuffle(x, 3),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True),
    "rrelu": functional.rrelu,
    "poisson": torch.poisson,
    "tanh": torch.tanh,
    "bilinear": lambda x: functional.interpolate(x, scale_factor=2, mode="bilinear"),
    "nearest": lambda x: functional.interpolate(x, scale_factor=2),
    "bicubic": lambda x: functional.interpolate(x, size=(3, 9), mode="bicubic"),
    "trilinear": lambda x: functional.interpolate(x[None], scale_factor=2, mode="trilinear"),
}
TWO = {
    "copysign": torch.copysign,
    "floor_divide": torch.floor_divide,
    "div": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "xlogy": torch.xlogy,
    "xlog1py": torch.special.xlog1py,
    "binary_cross_entropy": lambda x, y: functional.binary_cross_entropy(x, y, reduction="none"),
    "mean of binary_cross_entropy": functional.binary_cross_entropy,
    "unlike": lambda x, y: torch.copysign(x, y[:, :1, :, 0].unsqueeze(-1)),
    "atan2": torch.atan2,
}
CASES = [
    *((name, function, (each,)) for (name, function), each in product(ONE.items(), LAYOUTS)),
    *((name, function, each) for (name, function), each in product(TWO.items(), product(LAYOUTS, LAYOUTS))),
]


@pytest.mark.parametrize(("function", "layouts"), [case[1:] for case in CASES], ids=[f"{a}-{c}" for a, _, c in CASES])
def test_strides_are_the_kernels(function, layouts, device: str):
    """Would catch a kernel that goes by other operands, or another format, than PyTorch's description says."""
    given = [LAYOUTS[each](torch.rand(SIZE)) for each in layouts]
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(each) for each in given]
    with mode, KernelLayouts():
        told = function(*fakes)
    if device == "cuda" and not is_emulated() and (function, layouts) == (ONE["channel_shuffle"], ("reversed",)):
        with pytest.raises(RuntimeError, match="view size is not compatible"):
            function(*given)
        return
    right = function(*given)
    assert [each.stride() for each in tree_leaves(told)] == [each.stride() for each in tree_leaves(right)]


OF_ONE_ELEMENT = [
    *(((2, 3, 1, 1), (3, 1, 3, 3)), ((2, 1, 4, 4), (16, 1, 4, 1)), ((2, 3, 1, 4), (12, 1, 999, 3))),
    *(((1, 3, 4, 4), (777, 1, 12, 3)), ((1, 3, 4, 4), (5, 16, 4, 1)), ((3, 1, 5), (5, 1, 1)), ((1, 5), (1, 1))),
]
"""Sizes and strides of tensors without gaps, some of whose dimensions have one element: their strides say nothing."""
KEEPING_STRIDES = {
    "relu": torch.relu,
    "sum": lambda x: x + x,
    "product": lambda x: x * 2,
    "comparison": lambda x: x > x * 2,
    "hardtanh": functional.hardtanh,
    "hardswish": functional.hardswish,
    "nan_to_num": torch.nan_to_num,
    "deg2rad": torch.deg2rad,
    "clamp": lambda x: x.clamp(x / 2, x * 2),
    "clone": torch.clone,
    "double": torch.Tensor.double,
    "zeros_like": torch.zeros_like,
    "fill": lambda x: torch.fill(x, 1.0),
    "flip": lambda x: x.flip(0),
    "in rows": lambda x: torch.zeros_like(x, memory_format=torch.contiguous_format),
    "tril": lambda x: x.tril(),
    "log_softmax": lambda x: x.log_softmax(1),
    "layer_norm": lambda x: functional.layer_norm(x, x.shape[1:]),
    "mse_loss": lambda x: functional.mse_loss(x, x * 2, reduction="none"),
    "xlogy": lambda x: torch.xlogy(2.0, x),
    "threshold_backward": lambda x: torch.ops.aten.threshold_backward(x, x.clone(), 0),
    "lerp": lambda x: torch.lerp(x, x, 0.5),
}


@pytest.mark.parametrize("function", KEEPING_STRIDES.values(), ids=KEEPING_STRIDES)
def test_strides_along_one_element(function, device: str):
    """Would catch pooled images, channels last, whose activations lie channels last: eager takes them for rows."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for sizes, strides in OF_ONE_ELEMENT:
        x = torch.empty_strided(sizes, strides).copy_(torch.rand(sizes))
        fake = mode.from_tensor(x)
        with mode, KernelLayouts():
            told = function(fake)
        assert (sizes, strides, told.stride()) == (sizes, strides, function(x).stride())


def test_strides_of_a_kernel_that_takes_its_second_operand_first():
    """Would catch a gradient below a pooling that lies as the tangent does, where eager's lies as the image."""
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    for strides, others in (((3, 1, 3, 3), (1, 2, 2, 2)), ((1, 2, 2, 2), (3, 1, 3, 3))):
        given = [torch.rand(2, 3, 1, 1).as_strided((2, 3, 1, 1), each) for each in (strides, others)]
        with mode, KernelLayouts():
            told = torch.ops.aten.threshold_backward(*map(mode.from_tensor, given), 0)
        assert told.stride() == torch.ops.aten.threshold_backward(*given, 0).stride()


@pytest.mark.parametrize("sizes", [(1, 2, 1, 1), (2, 1, 3, 3), (2, 4, 1, 1), (1, 2, 1, 3), (2, 3, 2, 2), (1, 1, 1, 1)])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 3, 1), (3, 2, 1, 0)])
def test_formats_that_strides_say(sizes: tuple[int, ...], order: tuple[int, ...]):
    """One image of one pixel is in both formats, and a part of an image in channels last is dense in neither."""
    laid_out = torch.rand([sizes[dim] + 1 for dim in order]).permute([order.index(dim) for dim in range(4)])
    part = laid_out[: sizes[0], : sizes[1], : sizes[2], : sizes[3]]
    for given in (part, part.clone()):
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        indices = torch.zeros(sizes, dtype=torch.int64)
        with mode, KernelLayouts():
            told = functional.max_unpool2d(mode.from_tensor(given), indices, 2)
        assert told.stride() == functional.max_unpool2d(given, indices, 2).stride()


# The functions whose gradients' kernels have a row for their layout, and some that lie as described.
GRADIENTS = {
    "logsigmoid": functional.logsigmoid,
    "elu": functional.elu,
    "softplus": functional.softplus,
    "hardswish": functional.hardswish,
    "hardsigmoid": functional.hardsigmoid,
    "hardtanh": functional.hardtanh,
    "log_softmax": lambda x: functional.log_softmax(x, 1),
    "layer_norm": lambda x: functional.layer_norm(x, SIZE[2:]),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True),
    "rrelu": lambda x: functional.rrelu(x, training=True),
    "mse_loss": lambda x: functional.mse_loss(x, torch.ones(SIZE), reduction="none"),
    "smooth_l1_loss": lambda x: functional.smooth_l1_loss(x, torch.ones(SIZE), reduction="none"),
    "huber_loss": lambda x: functional.huber_loss(x, torch.ones(SIZE), reduction="none"),
    "binary_cross_entropy": lambda x: functional.binary_cross_entropy(x, torch.ones(SIZE), reduction="none"),
    "reflection_pad": lambda x: functional.pad(x, (1, 1, 1, 1), mode="reflect"),
    "replication_pad": lambda x: functional.pad(x, (1, 1, 1, 1), mode="replicate"),
    "gelu": functional.gelu,
    "conv2d": lambda x: functional.conv2d(x, torch.ones(2, 6, 3, 3)),
    "sum": lambda x: x.sum(1, keepdim=True).expand(SIZE),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_strides_of_gradients_are_the_kernels(name):
    """Would catch a kernel of a gradient that goes by the gradient where it is described to go by the operand."""
    for given, wanted in product(LAYOUTS, ("rows", "channels last", "reversed")):
        mode, strides = FakeTensorMode(allow_non_fake_inputs=True), []
        for stand_in in (nullcontext(), mode):
            with stand_in, KernelLayouts() if stand_in is mode else nullcontext():
                x = LAYOUTS[given](torch.rand(SIZE)).requires_grad_()
                result = GRADIENTS[name](x)
                tangent = torch.empty(result.shape)
                tangent = LAYOUTS[wanted](tangent) if wanted != "reversed" else tangent.mT.contiguous().mT
                strides.append(torch.autograd.grad(result, x, tangent)[0].stride())
        assert strides[0] == strides[1], (given, wanted)


def _of_one_batch() -> dict[str, torch.Tensor]:
    """Operands that are broadcast to one image, as a picture that is read pixel by pixel lies, or to a row."""
    picture = torch.rand(7, 5, 3).permute(2, 0, 1)
    return {"image": picture[None], "picture": picture, "row": picture[None, :, :1], "rows": picture.contiguous()[None]}


BROADCAST = {
    "number": lambda x, y: x / 2,
    "comparison": lambda x, y: torch.gt(x, 0),
    "mul": torch.mul,
    "copysign": torch.copysign,
    "where": lambda x, y: torch.where(x > 0, y, x),
    "addcmul": lambda x, y: torch.addcmul(x, x, y),
    "lerp": lambda x, y: torch.lerp(x, y, 0.5),
    "masked_fill": lambda x, y: x.masked_fill(y > 0, 1.0),
    "power": lambda x, y: x**2,
}


@pytest.mark.parametrize("name", BROADCAST)
def test_strides_of_what_is_broadcast(name: str):
    """Would catch an image of one batch that is told to lie channels last, as PyTorch's description has it, where the
    kernel keeps a stride in that dimension by which it does not: convolutions of it lie otherwise, too."""
    for one, other in product(_of_one_batch().values(), repeat=2):
        mode = FakeTensorMode()
        with mode, KernelLayouts():
            told = BROADCAST[name](mode.from_tensor(one), mode.from_tensor(other))
        assert told.stride() == BROADCAST[name](one, other).stride(), (one.stride(), other.stride())


def is_emulated() -> bool:
    return KERNELS["cuda"] == "cpu"


@pytest.mark.parametrize(
    "name", ["roll", "channel_shuffle", "max_unpool2d", "reflection_pad2d_backward", "replication_pad2d_backward"]
)
def test_gpu_kernels_that_lay_out_row_by_row(name: str, monkeypatch: pytest.MonkeyPatch):
    """Would catch channels last, as the CPU's kernels keep it, where a GPU's kernel does not."""
    monkeypatch.setitem(KERNELS, "cuda", "cuda")
    func = getattr(torch.ops.aten, name).default
    with FakeTensorMode():
        x = torch.empty(2, 4, 4, 6, device="cuda").permute(0, 3, 1, 2)
        args = (x, [1], [0]) if name == "roll" else (x, x)
        assert as_kernel_lays_out(func, args, {}, torch.empty_like(x)).is_contiguous()


@pytest.mark.parametrize("name", ["logsigmoid", "batch_norm"])
def test_strides_of_gpu_kernels(name: str, monkeypatch: pytest.MonkeyPatch):
    """Would catch the CPU's layout where a GPU's kernel lays its result out as its operand lies."""
    monkeypatch.setitem(KERNELS, "cuda", "cuda")
    with FakeTensorMode(), KernelLayouts():
        for order in ((1, 0), (0, 1)):
            x = torch.empty(4, 3, device="cuda").permute(order)
            assert ONE[name](x).stride() == x.stride()


def test_interpolated_image_keeps_its_format_on_a_gpu(monkeypatch: pytest.MonkeyPatch):
    """Would catch rows, as PyTorch describes few channels, where a GPU's kernel lays them out channels last."""
    monkeypatch.setitem(KERNELS, "cuda", "cuda")
    with FakeTensorMode(), KernelLayouts():
        x = torch.empty(2, 4, 4, 6, device="cuda").permute(0, 3, 1, 2)
        assert ONE["bilinear"](x).is_contiguous(memory_format=torch.channels_last)


def test_results_that_leave_a_call():
    """Would catch strides that are corrected where nobody asks for them."""
    x = torch.rand(SIZE).transpose(1, 3)

    def function(x):
        return functional.logsigmoid(x), torch.copysign(x, x.contiguous()), x.contiguous() // x

    compiled = torch.compile(function, backend="dovetail")(x)
    assert [each.stride() for each in compiled] == [each.stride() for each in function(x)]


@pytest.mark.parametrize("dynamic", [False, True])
def test_convolution_of_a_picture(op_by_op, dynamic: bool, device: str):
    """Would catch a picture that is scaled and convolved channels last, where eager does not take it for such."""
    weight = torch.rand(4, 3, 3, 3, device=device)

    def convolved(picture):
        scaled = picture.permute(2, 0, 1)[None] / 255
        return scaled, functional.conv2d(scaled, weight)

    compiled = torch.compile(convolved, backend="dovetail", dynamic=dynamic)
    for height in (7, 9):
        picture = torch.rand(height, 5, 3, device=device)
        found, expected = compiled(picture), convolved(picture)
        assert [each.stride() for each in found] == [each.stride() for each in expected]

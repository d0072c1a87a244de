"""What is one kernel though IREE would cut it, on a GPU, against float64."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

import dovetail

pytestmark = pytest.mark.cuda

DTYPES = (torch.float32, torch.bfloat16)


def _norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[-1:], weight, bias)


def _rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight


def _joined(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.cat([x * 2, y.exp()], -1)


def _agrees(function: Callable, tensors: list[torch.Tensor], form: str = "rows") -> None:
    """Also, that kernels of `form` ran: of odd sizes, ATen computes the sums of columns."""

    def results(compute: Callable, dtype: torch.dtype) -> list[torch.Tensor]:
        leaves = [tensor.detach().to(dtype).requires_grad_() for tensor in tensors]
        result = compute(*leaves)
        torch.manual_seed(1)
        tangent = torch.randn(result.shape, device="cuda", dtype=tensors[0].dtype).to(dtype)
        return [result.detach(), *torch.autograd.grad(result, leaves, tangent)]

    exact, eager = results(function, torch.float64), results(function, tensors[0].dtype)
    dovetail.stats(reset=True)
    ours = results(torch.compile(function, backend="dovetail"), tensors[0].dtype)
    assert dovetail.stats().kernels[form] > 0
    for got, theirs, true in zip(ours, eager, exact, strict=True):
        floor = torch.finfo(got.dtype).eps / 2 * true.norm()
        assert (got - true).norm() <= 3 * (theirs - true).norm() + floor


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(4096, 1024), (512, 768), (256, 12288), (4096, 64), (1024, 3001)], ids=str)
@pytest.mark.parametrize("function", [_norm, _rms_norm])
def test_gradients_of_norms(function: Callable, shape: tuple[int, int], dtype: torch.dtype):
    """Catches two sums of rows of which one never arrives where they share a kernel, or terms of another row."""
    torch.manual_seed(0)
    given = [torch.randn(shape, device="cuda") + 0.5, *(torch.randn(shape[1], device="cuda") for _ in range(2))]
    _agrees(function, [each.to(dtype) for each in given[: 3 if function is _norm else 2]])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(64, 16, 256, 256), (4, 3, 128, 1000)], ids=str)
def test_masked_softmax(shape: tuple[int, ...], dtype: torch.dtype):
    """Catches a row that is masked as a whole and no number, and one that is not and 0."""
    torch.manual_seed(0)
    scores = torch.randn(shape, device="cuda", dtype=dtype)
    scores[..., 1, :], scores[..., 2, 1:] = -torch.inf, -torch.inf
    _agrees(lambda x: torch.ops.aten._safe_softmax(x, -1), [scores])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(512, 16384), (64, 50257), (64, 30522), (1000, 1000), (4096, 32)], ids=str)
def test_cross_entropy(shape: tuple[int, int], dtype: torch.dtype):
    """Catches targets, which are wide, taken for others by rows that many threads share."""
    torch.manual_seed(0)
    targets = torch.randint(shape[1], shape[:1], device="cuda")
    targets[::7] = -100
    _agrees(lambda x: functional.cross_entropy(x, targets), [torch.randn(shape, device="cuda", dtype=dtype)])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(64, 512, 49), (3, 512, 31), (5, 6, 225), (37, 1001), (64, 30522)], ids=str)
def test_ends_of_rows_that_threads_do_not_divide(shape: tuple[int, ...], dtype: torch.dtype):
    """Catches numbers behind the end of a row that are taken for the next one's, or are left out."""
    torch.manual_seed(0)
    given = [torch.randn(each, device="cuda", dtype=dtype) for each in (shape, (shape[0], *[1] * (len(shape) - 1)))]
    _agrees(lambda x, y: torch.relu(x * y + y), given, "pointwise")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("widths", [(2048, 2048), (64, 192), (24, 1000), (7, 1001)], ids=str)
def test_concatenations(widths: tuple[int, int], dtype: torch.dtype):
    """Catches parts that overwrite each other, and vectors that reach over a part's end."""
    torch.manual_seed(0)
    _agrees(_joined, [torch.randn(1024, width, device="cuda", dtype=dtype) for width in widths], "pointwise")


def test_a_concatenation_of_parts_that_are_used_again():
    """Catches a part that is written where it is joined, and nowhere else."""

    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scaled = x * 2
        return torch.cat([scaled + 1, y.sin()], 1).sum(0)[: x.shape[1]] + scaled

    torch.manual_seed(0)
    _agrees(function, [torch.randn(1024, 256, device="cuda") for _ in range(2)], "pointwise")


def _turned(x: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, -1)
    return x * sin.cos() + torch.cat([-second, first], -1) * sin


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [8, 64, 96, 2048], ids=str)
def test_rotary_embeddings(width: int, dtype: torch.dtype):
    """Catches halves that change places, of the embedding or of its gradient."""
    torch.manual_seed(0)
    given = [torch.randn(each, device="cuda", dtype=dtype) for each in ((3, 4, 64, width), (64, width))]
    _agrees(_turned, given, "pointwise")
    across = [given[0].transpose(1, 2).contiguous(), given[1]]
    _agrees(lambda x, sin: _turned(x.transpose(1, 2), sin), across, "pointwise")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_sums_of_few(dtype: torch.dtype):
    """Catches a gradient of a repeated row that is another row's."""
    torch.manual_seed(0)
    given = [torch.randn(each, device="cuda", dtype=dtype) for each in ((8, 6, 1, 257, 64), (8, 6, 2, 257, 64))]
    _agrees(lambda x, y: x.expand(y.shape) * y, given, "pointwise")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_columns_of_stored_terms(dtype: torch.dtype):
    """Catches sums of columns of what another kernel has not written yet."""
    torch.manual_seed(0)
    given = [torch.randn(each, device="cuda", dtype=dtype) for each in ((512, 1536), (1536,))]
    _agrees(lambda x, bias: functional.gelu(x + bias), given, "columns")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(4096, 64), (6272, 512), (8192, 768)], ids=str)
def test_deviations_of_columns(shape: tuple[int, int], dtype: torch.dtype):
    """Catches terms in other sizes that are those of another row, and a mean that is read before it is there."""
    torch.manual_seed(0)

    def normalized(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        wide = x if x.dtype is torch.float64 else x.float()
        far = wide - wide.mean(0)
        return (far * torch.rsqrt((far * far).mean(0) + 1e-5) * weight).to(x.dtype)

    given = [torch.randn(shape, device="cuda") + 0.5, torch.randn(shape[1], device="cuda")]
    _agrees(normalized, [each.to(dtype) for each in given], "columns")


def test_rounded_sums_stay_rounded():
    """Catches a sum that is rounded to half precision and widened by one kernel, which leaves both out."""
    x = torch.randn(4096, 768, device="cuda", dtype=torch.bfloat16)
    ours = torch.compile(lambda x: x.sum(0).float(), backend="dovetail")(x)
    assert torch.equal(ours, ours.bfloat16().float())
    torch.testing.assert_close(ours.double(), x.double().sum(0), rtol=1e-2, atol=1e-1)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_training_by_half_precision_images(dtype: torch.dtype):
    """Catches moments of images that lie channels last, and gradients of theirs, which two sums take, and no third."""
    torch.manual_seed(0)
    blocks = [
        nn.Sequential(nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()) for _ in range(4)
    ]
    module = nn.Sequential(*blocks).cuda()
    images = torch.randn(32, 64, 28, 28, device="cuda")

    def step(compute: Callable, module: nn.Module, images: torch.Tensor, is_cast: bool) -> list[torch.Tensor]:
        module.zero_grad()
        with torch.autocast("cuda", dtype, enabled=is_cast):
            result = compute(images)
        result.double().square().mean().backward()
        return [
            result.detach(),
            *(each.grad.clone() for each in module.parameters()),
            *map(torch.clone, module.buffers()),
        ]

    modules = [copy.deepcopy(module) for _ in range(3)]
    exact = step(modules[0].double(), modules[0], images.double(), False)
    eager = step(modules[1], modules[1], images, True)
    ours = step(torch.compile(modules[2], backend="dovetail"), modules[2], images, True)
    for got, theirs, true in zip(ours, eager, exact, strict=True):
        if got.is_floating_point():
            floor = torch.finfo(dtype).eps / 2 * true.norm()
            assert (got - true).norm() <= 3 * (theirs - true).norm() + floor

"""Results: whose memory, which object, what history; and their in-place use after the call."""

import pytest
import torch
from differential import assert_same, without_dynamo

from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")


def vector(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 4).requires_grad_(grad)


def matrix(*, grad: bool = False) -> torch.Tensor:
    return torch.linspace(-1, 1, 12).reshape(3, 4).requires_grad_(grad)


def cloned(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(tensor.clone() for tensor in tensors)


def write_first(outputs, arguments):
    return outputs[0].mul_(3)


def test_argument_returned():
    """Catches a copy in place of the very object (O2)."""
    assert_same(lambda x: (x, x * 2, x), vector())
    assert_same(lambda x: (x, x * 2, x), vector(grad=True), prepare=cloned, then=write_first)


def test_ops_that_return_their_argument():
    """Catches a copy where `contiguous`, `to` or an idle `dropout` return the argument itself (O2)."""

    def fn(x):
        return x.contiguous(), x.to(torch.float32), torch.nn.functional.dropout(x, 0.5, False), x + 1

    assert_same(fn, vector())
    assert_same(fn, vector(grad=True), prepare=cloned)


def test_view_behind_an_idle_dropout():
    """Catches a view that loses its base behind a copy that only a decomposition made."""
    assert_same(lambda x: (torch.nn.functional.dropout(x, 0.5, False).view(2, 2), x + 1), vector(grad=True))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_view_of_argument(grad):
    """Catches a view without its base, or one on which in-place use goes nowhere (O3)."""
    views = {
        "view": lambda x: x.view(4, 3),
        "chain": lambda x: x.t()[1:].unsqueeze(0).transpose(1, 2),
        "expand": lambda x: x[:1].expand(3, 4),
        "diagonal": lambda x: x.diagonal(),
        "unfold": lambda x: x.unfold(0, 2, 1),
        "as_strided": lambda x: x.as_strided((2, 2), (1, 1)),
    }
    for name, view in views.items():
        writable = name not in ("expand", "unfold", "as_strided")
        assert_same(
            lambda x, view=view: (view(x), x * 2),
            matrix(grad=grad),
            prepare=cloned,
            then=write_first if writable else None,
        )


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_multi_output_view_of_argument(grad):
    """Catches parts of an argument that are copies: a later write to the argument must show in them (O3)."""

    def shift_argument(outputs, arguments):
        arguments[0].data.add_(1)

    for split in (lambda x: x.split(2), lambda x: x.split([1, 2]), lambda x: x.chunk(2), lambda x: x.unbind(0)):
        assert_same(lambda x, split=split: (*split(x), x + 1), matrix(grad=grad), prepare=cloned, then=shift_argument)


def test_multi_output_view_of_mutated_argument():
    """Catches parts taken of the value before the write."""

    def fn(x):
        x.mul_(2)
        return x.split(2)

    assert_same(fn, matrix())
    assert_same(fn, matrix(grad=True), prepare=cloned)


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_view_of_intermediate(grad):
    """Catches a view whose in-place use raises or does not reach the gradient (O4)."""
    assert_same(lambda x: (x * 2).view(4, 3), matrix(grad=grad), then=lambda output, arguments: output.mul_(2))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_view_and_its_base_returned(grad):
    """Catches a view that does not see a write to the base that is a result too (O6)."""

    def fn(x):
        y = x * 2
        return y.view(4, 3), y

    assert_same(fn, matrix(grad=grad), then=write_first)
    assert_same(fn, matrix(grad=grad), then=lambda outputs, arguments: outputs[1].mul_(2))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_several_views_of_one_intermediate(grad):
    """Catches siblings that don't see one another's writes (O9); PyTorch's capture calls them fresh without grad."""

    def fn(x):
        y = x * 2
        return y.view(4, 3), y.t(), y[0]

    assert_same(fn, matrix(grad=grad), then=write_first)


def test_view_of_a_view_returned_before_it():
    """Catches a result replayed on another one that comes later and is a view itself (O9)."""

    def fn(x):
        view = (x * 2).view(4, 3)
        return view[0], view, view.t()

    assert_same(fn, matrix(), then=write_first)
    assert_same(lambda x: (x.clone().view(4, 3)[0], x), matrix(), then=write_first)


def test_views_of_two_intermediates():
    """Catches views replayed on each other's base, where the types collide."""

    def fn(x):
        a, b = x + 1, x * 2
        return a.view(-1), b.view(-1), a[0], b[0]

    assert_same(fn, matrix(grad=True), then=write_first)


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_same_tensor_returned_twice(grad):
    """Catches two objects where eager returns one."""

    def fn(x):
        y = x * 2
        return y, y

    assert_same(fn, vector(grad=grad), then=write_first)


def test_detached_results():
    """Catches a detached result that has a history, or that does not share memory with what it was detached from."""

    def fn(x):
        y = x * 2
        return y.detach(), y, x.detach(), x.view(2, 2).detach()[0]

    assert_same(fn, vector(grad=True))
    assert_same(fn, vector())


def test_detached_sibling_of_a_view():
    """Catches a detached result with memory of its own beside a view of the same intermediate."""

    def fn(x):
        y = x * 2
        return y.detach(), y.view(2, 2)

    assert_same(fn, vector(grad=True))


def test_view_under_no_grad_takes_no_gradient():
    """Catches a gradient that flows through a view made under `no_grad`."""

    def fn(x):
        with torch.no_grad():
            view = x.view(2, 2)
        return view, x * 1

    x = vector(grad=True)
    view, product = torch.compile(fn, backend="dovetail", fullgraph=True)(x)
    assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert view.grad_fn is None
    (product.sum() + view.sum()).backward()
    assert x.grad.tolist() == [1.0] * 4


def test_nested_containers():
    """Catches results that come back in another order or container, and plain values that don't (O10)."""

    def fn(x):
        return {"a": [x * 2, None, 3, 2.5, True, "s"], "b": (x.shape[0], x.sum(), {"c": x + 1})}

    assert_same(fn, vector(grad=True))


def test_results_without_gradient():
    """Catches integer, boolean and detached results that claim to require grad (O11)."""
    assert_same(lambda x: (x * 2, x > 0, x.argmax(), (x * 3).long(), x.detach() * 2), vector(grad=True))


def test_constant_results():
    """Catches a constant of the graph handed out as such: a write to it would show in the next call."""

    def fn(x):
        at = {"device": x.device}
        return torch.tensor([1.0, 2.0], **at), torch.ones(3, **at), torch.arange(4, **at), x + 1

    assert_same(fn, vector(), then=write_first)


def test_memory_format_of_results():
    """Catches channels-last or permuted results that come back row-major (O13)."""
    image = torch.linspace(-1, 1, 120).reshape(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert_same(lambda x: x * 2 + 1, image)
    assert_same(lambda x: x.relu(), image.clone().requires_grad_())
    assert_same(lambda x: x * 2 + 1, matrix(grad=True), prepare=lambda x: (x.t(),))


def test_unsafe_view_is_fresh():
    """Catches the product of a batched matrix and a matrix taken for a view of something (O7)."""
    assert_same(lambda x, w: x @ w, torch.randn(2, 3, 4, requires_grad=True), torch.randn(4, 5, requires_grad=True))


def test_custom_function_view():
    """Catches a view made by a custom `autograd.Function` replayed without its own backward (O8)."""

    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(2, 2)

        @staticmethod
        def backward(ctx, gradient):
            return 3 * gradient.reshape(4)

    assert_same(lambda x: Tripled.apply(x * 2) + 0, vector(grad=True))


def test_view_after_metadata_mutation():
    """Catches a view of a transposed argument replayed on the untransposed one."""

    def fn(x):
        x.t_()
        return x[0]

    assert_same(fn, matrix(), compiler=without_dynamo)


@pytest.mark.parametrize("name", ["view_as_real", "view_dtype", "imag"])
def test_copy_of_reinterpreted_memory(name):
    """Catches a copy that is dropped although a view of other elements, unknown to IREE, lies in the same memory."""
    fns = {
        "view_as_real": (lambda z: torch.view_as_real(z).clone(), torch.tensor([1 + 2j, 3 - 4j])),
        "view_dtype": (lambda x: x.view(torch.int32).clone(), vector()),
        "imag": (lambda z: z.imag.clone(), torch.tensor([1 + 2j, 3 - 4j])),
    }
    fn, argument = fns[name]

    def mutates(x):
        before = fn(x)
        x.mul_(2)
        return before

    assert_same(fn, argument, train=False, then=write_first)
    assert_same(mutates, argument, train=False, then=write_first)


def test_constant_tensor_returned():
    """Catches a tensor of the program's own handed out: the user's writes would be in the next call's result."""

    real, complex_ = [1.0, 2.0], [1j, 2.0]
    assert_same(lambda x: (torch.tensor(real, device=x.device), x + 1), vector(), then=write_first)
    assert_same(
        lambda z: (torch.tensor(complex_, device=z.device), z * torch.tensor(complex_, device=z.device)),
        torch.ones(2),
        train=False,
        then=write_first,
    )


@pytest.mark.parametrize("row", [0, 1])
def test_part_of_an_expanded_tensor(row):
    """Catches the gradient of another part: all rows of an expanded tensor lie at one place in memory."""
    assert_same(
        lambda x: x.unbind(0)[row],
        torch.linspace(-1, 1, 3),
        prepare=lambda each: (each.detach().expand(2, 3).detach().requires_grad_(),),
    )


def test_layout_of_normalized_results():
    """Catches the layout that PyTorch's tracing gives a batch norm's result; eager's kernel lays rows first."""

    def fn(x):
        normalized = torch.nn.functional.batch_norm(x, None, None, training=True)
        return normalized, normalized.reshape(12)

    assert_same(fn, matrix(grad=True), prepare=lambda x: (x.t().contiguous().t(),))


def test_view_of_a_detached_tensor_that_was_transposed_in_place():
    """Catches a result whose `_base` has the sizes from before; no replay leads there, so it runs eagerly."""

    def fn(x):
        detached = x.detach()
        detached.t_()
        return detached.diagonal()

    with pytest.warns(EagerWarning, match="sizes were changed in place after a tensor was detached"):
        assert_same(fn, matrix(), train=False, graphs=0, eager=True)


def test_as_strided_of_what_an_argument_gave():
    """Catches an offset that counts from the start of the argument's storage: a value starts where it lies."""

    def fn(x):
        fresh = x * 2
        fresh.copy_(x)
        return fresh.as_strided((2,), (2,), 1).sum()

    assert_same(fn, torch.linspace(-1, 1, 11), prepare=lambda each: (each[1:9].view(4, 2),))


def test_view_of_a_detached_result():
    """Catches a base of its own: the view's base is the detached result, whose sizes the caller then changes."""

    def fn(x):
        detached = x.detach()
        return detached, detached.chunk(2, 0)[1]

    assert_same(fn, matrix(), train=False, then=lambda outputs, _: outputs[0].t_())


def test_result_of_an_update_of_a_part():
    """Catches a result that lies in, and keeps, more memory than its own: the kernel copies all of its argument's."""

    def fn(x):
        with torch.no_grad():
            x[::2] += 1
            return x.clone()

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    result = compiled(torch.zeros(12)[1:7])
    assert (result.storage_offset(), result.untyped_storage().nbytes()) == (0, 24)


@pytest.mark.parametrize("constant", [[1j], [1j, 2.0], [complex(0, float("nan")), 3.0], [complex(float("-inf"), 1)]])
def test_complex_constant(constant):
    """Catches elements that MLIR's Python can't read: one element, equal ones, infinities and NaN as bits."""

    def fn(z):
        factor = torch.tensor(constant, dtype=torch.complex64, device=z.device)
        return torch.view_as_real(z * factor).nan_to_num(7.0, 8.0, 9.0)

    assert_same(fn, torch.tensor([1 + 2j] * len(constant)), train=False)


def test_part_of_a_tensor_written_afterwards():
    """Catches a gradient where eager refuses one: views that were made together don't follow a later write."""

    def fn(x):
        first, _ = x.split(2)
        x[:1] = 5
        return first

    with pytest.warns(EagerWarning, match="is a view and its base or another view of its base has been modified"):
        result = torch.compile(fn, backend="dovetail", fullgraph=True)(vector(grad=True) * 1)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        result.sum().backward()


def test_part_of_a_tensor_whose_alias_is_written_afterwards():
    """Catches a gradient where eager refuses one: a detached alias moves the version of the views' base, too."""

    def fn(x, alias):
        first, _ = x.split(2)
        alias.add_(1)
        return first

    x = vector(grad=True) * 1
    with pytest.warns(EagerWarning, match="an alias of its base is written"):
        result = torch.compile(fn, backend="dovetail", fullgraph=True)(x, x.detach())
    with pytest.raises(RuntimeError, match="returns multiple views"):
        result.sum().backward()


@pytest.mark.parametrize("view", [lambda x: x[1], lambda x: x.view(2, 2).t()], ids=["element", "transposed"])
def test_view_of_an_inference_tensor(view):
    """Catches a copy of the part in place of a view: inference tensors have no `_base` that would tell."""

    def fn(x):
        return view(x * 2)

    with torch.inference_mode():
        x = torch.arange(4.0)
        expected, actual = fn(x), torch.compile(fn, backend="dovetail", fullgraph=True)(x)
        assert torch.equal(actual, expected)
        for shown in (torch.Tensor.storage_offset, torch.Tensor.stride, lambda each: each.untyped_storage().nbytes()):
            assert shown(actual) == shown(expected)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128])
def test_complex_element_type(dtype):
    """Catches the next wider complex type: torch-mlir numbers them otherwise than PyTorch."""
    assert_same(lambda x: torch.view_as_real(x.to(dtype) + torch.zeros(4, dtype=dtype)), vector(), train=False)


def test_offset_of_a_detached_part():
    """Catches a result in memory of its own where eager's starts in the midst of larger memory (O3, O13)."""
    assert_same(lambda x: (x * 2)[:, 1:].detach(), torch.arange(6.0).view(2, 3))
    assert_same(lambda x: (x * 2)[:, 1:].detach(), torch.arange(6.0).view(2, 3).requires_grad_())


def test_detached_expansion():
    """Catches a write of the same element more than once: the expanded memory is laid out anew."""
    assert_same(lambda x: (x * 2).expand(3, 2).detach(), torch.ones(2))


def test_view_that_is_returned_before_its_detached_base():
    """Catches a base of its own: sizes of the base that change later show in the view's `_base` (O9)."""

    def fn(x):
        detached = x.detach()
        return detached.transpose(0, 1), detached

    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        view, base = function(torch.ones(2, 3))
        assert view._base is base


def test_part_of_what_was_detached_and_reshaped():
    """Catches a part that has no `_base`: its base's sizes were changed in place."""

    def fn(x):
        detached = x.detach()
        detached.t_()
        return detached[::2]

    with pytest.warns(EagerWarning, match="sizes were changed in place after a tensor was detached"):
        assert_same(fn, torch.ones(2, 3).requires_grad_(), eager=True, graphs=0)


def test_as_strided_of_a_copy_of_a_part():
    """Catches the argument's offset in a copy of it: scatters into strided memory keep it (O13)."""

    def fn(x):
        copy = x.clone()
        part = copy.as_strided((2,), (2,), 1)
        part.add_(5)
        return part, copy

    assert_same(
        fn, torch.arange(8.0), prepare=lambda x: (x[4:].view(2, 2),), then=lambda results, _: results[0].add_(1)
    )


@pytest.mark.parametrize("size", [1, 2])
def test_activation_of_pooled_images(size: int):
    """Catches strides of images channels last: of one pixel each, eager takes them for rows."""

    def fn(x):
        pooled = torch.nn.functional.adaptive_avg_pool2d(x, size)
        return pooled, pooled.relu(), torch.nn.functional.hardswish(pooled), torch.zeros_like(pooled)

    assert_same(fn, torch.randn(2, 6, 4, 4).contiguous(memory_format=torch.channels_last))

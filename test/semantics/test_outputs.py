"""Results: whose memory, which object, what history; and their in-place use after the call."""

import pytest
import torch
from differential import assert_same

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


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_view_of_argument(grad):
    """Catches a view without its base, or one on which in-place use goes nowhere (O3)."""

    def fn(x):
        written = x.view(4, 3), x.t()[1:].unsqueeze(0).transpose(1, 2), x.diagonal()
        return *written, x[:1].expand(3, 4), x.unfold(0, 2, 1), x.as_strided((2, 2), (1, 1)), x * 2

    assert_same(fn, matrix(grad=grad), prepare=cloned, then=lambda outputs, _: [view.mul_(3) for view in outputs[:3]])


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_multi_output_view_of_argument(grad):
    """Catches parts of an argument that are copies: a later write to the argument must show in them (O3)."""

    def shift_argument(outputs, arguments):
        arguments[0].data.add_(1)

    def fn(x):
        return *x.split(2), *x.split([1, 2]), *x.chunk(2), *x.unbind(0), x + 1

    assert_same(fn, matrix(grad=grad), prepare=cloned, then=shift_argument)


def test_multi_output_view_of_mutated_argument():
    """Catches parts taken of the value before the write."""

    def fn(x):
        x.mul_(2)
        return x.split(2)

    assert_same(fn, matrix())
    assert_same(fn, matrix(grad=True), prepare=cloned)


def test_views_of_two_intermediates():
    """Catches views replayed on each other's base, or on an argument, where the types collide."""

    def fn(x):
        a, b = x + 1, x * 2
        return a.view(-1), b.view(-1), a[0], b[0], x.clone().view(4, 3)[0], x

    assert_same(fn, matrix(grad=True), then=write_first)


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_detached_results(grad):
    """Catches a detached result that has a history, memory of its own or other memory than eager's: where that is
    larger than the result, it starts in the midst of it, and where the result repeats elements, it is laid out anew."""

    def fn(x):
        y, z = x * 2, x * 3
        beside = y.detach(), y, z.detach(), z.view(2, 2)
        return *beside, x.detach(), x.view(2, 2).detach()[0], (x * 4)[1:].detach(), (x * 5).expand(3, 4).detach()

    assert_same(fn, vector(grad=grad))


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


def test_constant_results():
    """Catches a constant of the graph handed out as such: a write to it would show in the next call."""
    real, complex_ = [1.0, 2.0], [1j, 2.0]

    def fn(x):
        at = {"device": x.device}
        constants = torch.tensor(real, **at), torch.ones(3, **at), torch.arange(4, **at), torch.tensor(complex_, **at)
        return *constants, x[:2] * torch.tensor(complex_, **at)

    assert_same(fn, vector(), then=lambda outputs, _: [each.mul_(3) for each in outputs])


def test_copy_of_reinterpreted_memory():
    """Catches a copy that is dropped although a view of other elements, unknown to IREE, lies in the same memory."""

    def copies(x, y, z):
        return x.view(torch.int32).clone(), torch.view_as_real(y).clone(), z.imag.clone()

    def before(*arguments):
        copied = copies(*arguments)
        for each in arguments:
            each.mul_(2)
        return copied

    numbers = vector(), torch.tensor([1 + 2j, 3 - 4j]), torch.tensor([1 + 2j, 3 - 4j])
    for fn in (copies, before):
        assert_same(fn, *numbers, train=False, then=lambda outputs, _: [each.mul_(3) for each in outputs])


def test_part_of_an_expanded_tensor():
    """Catches the gradient of another part: all rows of an expanded tensor lie at one place in memory."""

    def expanded(*tensors):
        return [each.detach().expand(2, 3).detach().requires_grad_() for each in tensors]

    numbers = torch.linspace(-1, 1, 3)
    assert_same(lambda x, y: (x.unbind(0)[0], y.unbind(0)[1]), numbers, numbers.clone(), prepare=expanded)


def test_layout_of_normalized_results():
    """Catches the layout that PyTorch's tracing gives a batch norm's result; eager's kernel lays rows first."""

    def fn(x):
        normalized = torch.nn.functional.batch_norm(x, None, None, training=True)
        return normalized, normalized.reshape(12)

    assert_same(fn, matrix(grad=True), prepare=lambda x: (x.t().contiguous().t(),))


@pytest.mark.parametrize("view", [torch.diagonal, lambda x: x[::2]], ids=["diagonal", "part"])
def test_view_of_a_detached_tensor_that_was_transposed_in_place(view):
    """Catches a result whose `_base` has the sizes from before, or that has none; no replay leads there."""

    def fn(x):
        detached = x.detach()
        detached.t_()
        return view(detached)

    with pytest.warns(EagerWarning, match="sizes were changed in place after a tensor was detached"):
        assert_same(fn, matrix(grad=True), graphs=0, eager=True)


@pytest.mark.parametrize("rows", [0, 3], ids=["empty", "of elements"])
def test_a_detached_tensor_that_is_given_a_history(rows):
    """Catches a result without elements that is a view of the argument: eager's is none, though it is one of memory."""

    def fn(x):
        detached = x.detach()
        return detached.copy_(x)

    with pytest.warns(EagerWarning, match="result 0 requires grad, what it is a view of does not"):
        assert_same(fn, torch.ones(rows, 2, requires_grad=True), prepare=cloned, graphs=0, eager=True, train=False)


def test_as_strided_of_what_an_argument_gave():
    """Catches an offset that counts from the start of the argument's storage: a value starts where it lies."""

    def fn(x):
        fresh = x * 2
        fresh.copy_(x)
        return fresh.as_strided((2,), (2,), 1).sum()

    assert_same(fn, torch.linspace(-1, 1, 11), prepare=lambda each: (each[1:9].view(4, 2),))


def test_view_of_a_detached_result():
    """Catches a base of its own: sizes of the base that change later show in the view's `_base`, and a part of it is
    a view of it, too."""

    def fn(x):
        detached = x.detach()
        return detached.transpose(0, 1), detached, detached.chunk(2, 0)[1]

    for function in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        view, base, part = function(torch.ones(2, 3))
        assert view._base is base
        assert part._base is base


def test_result_of_an_update_of_a_part():
    """Catches a result that lies in, and keeps, more memory than its own: the kernel copies all of its argument's."""

    def fn(x):
        with torch.no_grad():
            x[::2] += 1
            return x.clone()

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    result = compiled(torch.zeros(12)[1:7])
    assert (result.storage_offset(), result.untyped_storage().nbytes()) == (0, 24)


def test_complex_constant():
    """Catches elements that MLIR's Python can't read: one element, equal ones, infinities and NaN as bits."""
    constants = [[1j], [1j, 2.0], [complex(0, float("nan")), 3.0], [complex(float("-inf"), 1)]]

    def fn(z):
        factors = [torch.tensor(each, dtype=torch.complex64, device=z.device) for each in constants]
        return [torch.view_as_real(z * factor).nan_to_num(7.0, 8.0, 9.0) for factor in factors]

    assert_same(fn, torch.tensor([1 + 2j, 1 + 2j]), train=False)


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


def test_view_of_an_inference_tensor():
    """Catches a copy of the part in place of a view: inference tensors have no `_base` that would tell."""

    def fn(x):
        return (x * 2)[1], (x * 3).view(2, 2).t()

    with torch.inference_mode():
        x = torch.arange(4.0)
        for expected, actual in zip(fn(x), torch.compile(fn, backend="dovetail", fullgraph=True)(x), strict=True):
            assert torch.equal(actual, expected)
            assert (actual.storage_offset(), actual.stride()) == (expected.storage_offset(), expected.stride())
            assert actual.untyped_storage().nbytes() == expected.untyped_storage().nbytes()


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
def test_conjugate_transpose(grad):
    """Catches a chain of views of one line that ends before the conjugation, which moves nothing."""

    def fn(x):
        return x.adjoint(), (x * 2).adjoint(), x.conj().adjoint(), x.adjoint().imag

    matrix = torch.complex(torch.randn(2, 3), torch.randn(2, 3)).requires_grad_(grad)
    assert_same(fn, matrix, prepare=cloned)


def test_write_through_a_conjugation():
    """Catches a result that is only conjugated as it is read, of which eager has plain memory: NumPy takes no other."""

    def fn(x):
        y, z = x * 2, x.real * 2
        y.conj().mul_(3)
        torch._neg_view(z).mul_(3)
        return y, z

    assert_same(fn, torch.complex(torch.randn(3), torch.randn(3)), train=False)
    assert_same(lambda x: x.conj().clone(), torch.complex(torch.randn(3), torch.randn(3)))


def test_complex_element_type():
    """Catches the next wider complex type: torch-mlir numbers them otherwise than PyTorch."""
    dtypes = torch.complex64, torch.complex128

    def fn(x):
        return [torch.view_as_real(x.to(dtype) + torch.zeros(4, dtype=dtype)) for dtype in dtypes]

    assert_same(fn, vector(), train=False)


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


def test_activation_of_pooled_images():
    """Catches strides of images channels last: of one pixel each, eager takes them for rows."""

    def activated(pooled):
        return pooled, pooled.relu(), torch.nn.functional.hardswish(pooled), torch.zeros_like(pooled)

    def fn(x):
        return [activated(torch.nn.functional.adaptive_avg_pool2d(x, size)) for size in (1, 2)]

    assert_same(fn, torch.randn(2, 6, 4, 4).contiguous(memory_format=torch.channels_last))

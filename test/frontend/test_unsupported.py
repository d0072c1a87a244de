"""What can't be honoured yet is refused before anything ran, naming the argument: never a wrong value."""

import pytest
import torch
from differential import without_dynamo
from torch.testing._internal.two_tensor import TwoTensor

from dovetail.errors import UnsupportedError


def assert_refused(fn, *arguments, message: str) -> None:
    """Dynamo wraps the error; its text must come through."""
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match=message) as caught:
        torch.compile(fn, backend="dovetail", fullgraph=True)(*arguments)
    assert isinstance(caught.value.inner_exception, UnsupportedError)


@pytest.mark.parametrize("write", [lambda x: x.mul_(2), lambda x: x.data.mul_(2)], ids=["mul_", "data"])
def test_overlapping_arguments_one_mutated(write):
    """Catches a mutation that the other argument, which shares the memory, does not see (I13)."""

    def fn(x, y):
        write(x)
        return x + y

    base = torch.ones(4)
    assert_refused(fn, base[:3], base[1:], message=r"argument L\['[xy]'\] is mutated and overlaps argument L\['[xy]'\]")
    assert base.tolist() == [1.0] * 4


def test_disjoint_arguments_one_mutated():
    """Catches arguments refused that share a storage but no element (I14)."""

    def fn(x, y):
        x.mul_(2)
        return x + y

    base = torch.ones(4)
    assert torch.compile(fn, backend="dovetail", fullgraph=True)(base[:2], base[2:]).tolist() == [3.0, 3.0]
    assert base.tolist() == [2.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("call", ["set_", "resize_"])
def test_storage_changes(call):
    """Catches an argument whose storage or size stays what it was (I8, I10)."""
    calls = {"set_": lambda x: x.set_(torch.ones(5)), "resize_": lambda x: x.resize_(2)}
    with pytest.raises(UnsupportedError, match=f"argument x: `{call}`"):
        without_dynamo(calls[call])(torch.ones(3))


def test_data_and_metadata_mutation():
    """Catches one of two mutations that is lost (I7)."""

    def fn(x):
        x.t_()
        x.mul_(2)
        return x + 1

    with pytest.raises(UnsupportedError, match="argument x: changing both its data and its sizes"):
        without_dynamo(fn)(torch.ones(2, 3))


def test_subclass():
    """Catches a wrapper subclass compiled as if it were its outer tensor (I17)."""
    assert_refused(
        lambda x: x * 2, TwoTensor(torch.ones(3), torch.ones(3)), message=r"L\['x'\]: tensor subclass TwoTensor"
    )


def test_higher_order_operator():
    """Catches a branch that is dropped or always taken (J10)."""
    assert_refused(
        lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)), torch.ones(3), message=r"test_unsupported.py:\d+"
    )


def test_assertion():
    """Catches a check that tracing drops, so that a failing one passes."""
    assert_refused(lambda x: (torch._assert_async(x.sum() < 0), x * 2)[1], torch.ones(3), message="_assert_async")


def test_grad_mode_change():
    """Catches grad mode that is not in force after the call (J13)."""

    def fn(x):
        torch.set_grad_enabled(False)
        return x * 2

    try:
        assert_refused(fn, torch.ones(3, requires_grad=True), message="grad mode")
    finally:
        torch.set_grad_enabled(True)


def test_view_that_changes_the_type():
    """Catches a complex argument's real view handed out as a copy."""
    assert_refused(
        lambda x: (torch.view_as_real(x), x + 1), torch.ones(3, dtype=torch.complex64), message="view_as_real"
    )


def test_device():
    """Catches a device without memory that is handed to a kernel."""
    with pytest.raises(torch._dynamo.exc.BackendCompilerFailed, match="unsupported device 'meta'; expected one of"):
        torch.compile(torch.sin, backend="dovetail")(torch.ones(3, device="meta"))


def test_element_type_that_the_ir_lacks():
    """Catches a bare KeyError from the importer in place of the argument's name."""
    numbers = torch.zeros(2, 2, dtype=torch.uint16)
    message = r"argument L\['x'\]: element type torch.uint16 is not supported"
    assert_refused(lambda x: x.view(-1), numbers, message=message)


def test_tensor_on_another_device():
    """Catches a result on the inputs' device where the user asked for another: types in the IR name none."""
    assert_refused(lambda x: x.to("meta"), torch.ones(3), message="a tensor on meta is not supported, expected cpu")
    assert_refused(lambda x: (x + 1, torch.ones(3, device="meta")), torch.ones(3), message="a tensor on meta")


def test_element_type_inside_of_the_graph():
    """Catches a KeyError in place of the element type's name and the user's source line."""

    def fn(x):
        return x.to(torch.uint16).to(torch.int32)

    assert_refused(fn, torch.ones(3, dtype=torch.int32), message=r"test_unsupported.py:\d+: element type torch.uint16")


def test_overlapping_arguments_one_mutated_through_out():
    """Catches a write that only the keyword `out=` shows."""
    base = torch.ones(4)
    with pytest.raises(UnsupportedError, match="is mutated and overlaps argument"):
        without_dynamo(lambda x, y: torch.add(y, 1, out=x))(base[:3], base[1:])

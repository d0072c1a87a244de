"""The comparer sees each kind of difference, planted between two worlds, and none between equal ones."""

import pytest
import torch

from dovetail.tools.fuzz.compare import KINDS, Difference, differences, is_close
from dovetail.tools.fuzz.observe import Observed, observe
from dovetail.tools.fuzz.world import World

SOURCE = """
import torch

def fn(x):
    {body}

def inputs_0():
    b = torch.arange(4.0).requires_grad_({grad})
    x = b * 1 if {grad} else b
    return locals()

def later_0(outputs, x):
    {later}
"""


def observed(body: str, grad: bool, later: str = "pass", backward: str = "once") -> Observed:
    world = World(SOURCE.format(body=body, grad=grad, later=later))
    return observe(world, world.fn, 0, ["x"], "", backward)


def found(right: str, wrong: str, grad: bool = False, later: str = "pass", backward: str = "once") -> list[Difference]:
    return differences(0, observed(right, grad, later, backward), observed(wrong, grad, later, backward))


@pytest.mark.parametrize(
    ("kind", "right", "wrong", "grad"),
    [
        ("value", "return x * 2", "return x * 2.001", False),
        ("gradient", "return x * x", "return x * x.detach()", True),
        ("gradient", "return x[:2], x[2:]", "return x[2:], x[:2]", True),
        ("alias", "return x[:2]", "return x[:2].clone()", False),
        ("alias", "y = x * 2; return y, y[1:]", "y = x * 2; return y, y[1:].clone()", False),
        ("identity", "return x", "return x[...]", False),
        ("identity", "y = x * 2; return y, y", "y = x * 2; return y, y[...]", False),
        ("base", "return x[:2]", "return x.data[:2]", False),
        ("base", "y = x * 2; return y[:2]", "y = x * 2; return y[:2].view(1, 2)[0].data", False),
        ("layout", "return (x * 2).view(2, 2).t()", "return (x * 2).view(2, 2).t().contiguous()", False),
        ("layout", "return (x * 2)[:3]", "return (x * 2)[1:]", False),
        ("type", "return x * 2", "return (x * 2).double()", False),
        ("requires_grad", "return x * 2", "return (x * 2).detach()", True),
        ("requires_grad", "return (x * 2).detach().requires_grad_()", "return x * 2", True),
        ("version", "x.add_(1)", "x.data.add_(1)", False),
        ("version", "x.add_(1)", "x.add_(0.5); x.add_(0.5)", False),
        ("structure", "return x, 1", "return [x, 1]", False),
        ("structure", "return x, 1", "return x, True", False),
        ("random", "return x * 2", "torch.rand(1); return x * 2", False),
        ("raised", "return x", "raise ValueError", False),
        ("not raised", "raise ValueError", "return x", False),
    ],
)
def test_difference_is_found(kind: str, right: str, wrong: str, grad: bool) -> None:
    """Catches an oracle that looks away: the fuzzer would run for ever and find nothing of that kind."""
    assert kind in {each.kind for each in found(right, wrong, grad)}
    assert not found(right, right, grad)
    assert kind in KINDS


def test_write_through_a_lost_alias_is_found() -> None:
    """Catches a comparison of values that ends with the call: the copy equals the view until someone writes."""
    write = "outputs[0].add_(1)"
    what = {each.what for each in found("return x[:2]", "return x[:2].clone()", later=write) if each.kind == "value"}
    assert what == {"x, written", "b, written"}


def test_missed_version_check_is_found() -> None:
    """Catches a backward whose error is taken for 'nothing to compare'."""
    saved, copied = "y = x * x; return x.sin()", "return x.clone().sin()"
    differing = found(saved, copied, grad=True, later="x.detach().add_(1)")
    assert ("not raised", "backward") in {(each.kind, each.what) for each in differing}


def test_wrong_second_derivative_is_found() -> None:
    """Catches a double backward that only repeats the first one."""
    right = "return x * x * x"
    wrong = "y = x.detach(); return 3 * y * y * x - 2 * y * y * y"  # the same value and gradient
    assert not found(right, wrong, grad=True)
    assert {each.kind for each in found(right, wrong, grad=True, backward="double")} == {"gradient"}


@pytest.mark.parametrize(
    ("actual", "expected", "close"),
    [
        (torch.tensor([1.0, 1e5]), torch.tensor([1.0, 1e5 + 0.25]), True),
        (torch.tensor([1.0, 1e5]), torch.tensor([1.0, 1e5 + 8]), False),
        (torch.tensor([1.0]), torch.tensor([1.0001]), False),
        (torch.tensor([1]), torch.tensor([2]), False),
        (torch.tensor([float("nan")]), torch.tensor([float("nan")]), True),
        (torch.tensor([float("nan")]), torch.tensor([0.0]), False),
        (torch.tensor([float("inf")]), torch.tensor([-float("inf")]), False),
        (torch.zeros(0), torch.zeros(0), True),
    ],
)
def test_tolerance(actual: torch.Tensor, expected: torch.Tensor, close: bool) -> None:
    """Catches a tolerance that lets a wrong number through, or calls the order of a sum a bug."""
    assert is_close(actual, expected) is close


ASSERTING = """
    class Asserting(torch.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)

        @staticmethod
        def backward(ctx, gradient):
            raise {error}

    return Asserting.apply(x)
"""


@pytest.mark.parametrize(("error", "kinds"), [("AssertionError", set()), ("ValueError", {"not raised", "gradient"})])
def test_gradients_that_pytorch_fails_to_give(error: str, kinds: set[str]) -> None:
    """Catches a gradient that counts as wrong because an assertion of PyTorch's own ends eager's backward."""
    assert {each.kind for each in found(ASSERTING.format(error=error), "return x * 2", grad=True)} == kinds

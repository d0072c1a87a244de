"""Programs that ask for an argument's history take the branch of each call's own argument."""

from collections.abc import Callable

import pytest
import torch

pytestmark = [pytest.mark.usefixtures("op_by_op"), pytest.mark.host]


def _leaf() -> torch.Tensor:
    return torch.ones(2, requires_grad=True)


def _computed() -> torch.Tensor:
    return _leaf() * 1


def _retaining() -> torch.Tensor:
    tensor = _computed()
    tensor.retain_grad()
    return tensor


ARGUMENTS: dict[str, Callable[[], torch.Tensor]] = {
    "leaf": _leaf,
    "computed": _computed,
    "retaining": _retaining,
    "view": lambda: _computed()[:],
    "second of two": lambda: torch.ones(2, 2, requires_grad=True).unbind()[1],
}
QUESTIONS: dict[str, Callable[[torch.Tensor], bool]] = {
    "grad_fn": lambda x: x.grad_fn is None,
    "is_leaf": lambda x: x.is_leaf,
    "retains_grad": lambda x: x.retains_grad,
    "_base": lambda x: x._base is None,
    "output_nr": lambda x: x.output_nr == 0,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_call_is_asked_anew(question: str):
    """Catches a call that takes the branch of the first one: Dynamo folds the answer, and guards on nothing."""

    def branch(x):
        return x * 2 if QUESTIONS[question](x) else x * 3

    for first in ARGUMENTS:
        torch._dynamo.reset()
        compiled = torch.compile(branch, backend="dovetail")
        for name in (first, *ARGUMENTS):
            argument = ARGUMENTS[name]()
            assert compiled(argument).tolist() == branch(argument).tolist(), (first, name)


@pytest.mark.parametrize("question", ["grad_fn", "is_leaf"])
def test_what_the_program_wrote_has_a_history(question: str):
    """Catches the answer of before a write, which gave the argument another history."""

    def branch(x, y):
        x.add_(y)
        return x * 2 if QUESTIONS[question](x) else x * 3

    compiled = torch.compile(branch, backend="dovetail")
    for grad in (False, True, False):
        y = torch.ones(2, requires_grad=grad)
        assert compiled(torch.ones(2), y).tolist() == branch(torch.ones(2), y).tolist()

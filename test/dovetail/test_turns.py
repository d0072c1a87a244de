"""What a compilation changes of Python's threads, and changes back."""

import sys

import pytest
import torch

from dovetail import compiler
from dovetail.turns import short_turns


@short_turns()
def _fail() -> None:
    raise ValueError("a defect")


def test_turns_are_as_before():
    """Catches a graph that does not compile, after which threads take turns ten thousand times a second."""
    before = sys.getswitchinterval()
    with pytest.raises(ValueError, match="a defect"):
        _fail()
    assert sys.getswitchinterval() == before


def test_turns_are_as_before_two_that_overlap():
    """Catches a thread that puts back what another one set, which has threads take short turns for ever."""
    before = sys.getswitchinterval()
    one, other = short_turns(), short_turns()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert sys.getswitchinterval() < before, "the other one still compiles"
    other.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_compilations_take_short_turns(op_by_op, monkeypatch):
    """Catches a compilation that keeps those waiting who hand texts to compilers."""
    seen = []
    build = compiler.build

    def noting(*arguments):
        seen.append(sys.getswitchinterval())
        return build(*arguments)

    monkeypatch.setattr(compiler, "build", noting)
    before = sys.getswitchinterval()
    torch.compile(lambda x: x.sin() + 1, backend="dovetail")(torch.rand(3))
    assert len(seen) == 1
    assert seen[0] < before
    assert sys.getswitchinterval() == before

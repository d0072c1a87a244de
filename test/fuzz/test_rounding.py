"""What differs by rounding is told apart from what is wrong, by the same program in double precision."""

import torch

from dovetail.tools.fuzz.compare import Difference
from dovetail.tools.fuzz.observe import Observed
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program
from dovetail.tools.fuzz.rounding import is_rounding

KEY = "value", "output 0, called"


def judged(eager: list[float], compiled: list[float], line: str) -> bool:
    """Whether a difference of these results of `line`, a line over the one argument (1, 3), counts as rounding."""
    parameter = Parameter("x0", (2,), "torch.float32")
    made = CodeLine("torch.tensor([1.0, 3.0], dtype=torch.float32)", (), ("x0",))
    call = Call((made,), backward="none")
    program = Program((parameter,), (CodeLine(line, ("x0",), ("v0",)),), (CodeLine("{0}", ("v0",)),), (call,), "single")
    seen = [Observed(values={KEY: torch.tensor(numbers)}) for numbers in (eager, compiled)]
    return is_rounding(program, [Difference(*KEY[:1], 0, KEY[1], "", "")], *seen)


def test_nearer_value_is_rounding():
    """Catches a difference where eager is the one that is off."""
    assert judged([0.3334, 1.0], [0.33333334, 1.0], "{0} / 3")


def test_further_value_is_a_difference():
    """Catches a wrong value that passes as rounding."""
    assert not judged([0.33333334, 1.0], [0.3334, 1.0], "{0} / 3")
    assert not judged([0.33333334, 1.0], [float("nan"), 1.0], "{0} / 3")


def test_each_element_is_judged():
    """Catches one element that eager rounds much, as an excuse for all others."""
    assert not judged([0.34, 1.0], [0.33333334, 0.981], "{0} / 3")


def test_other_value_in_double_precision_decides_nothing():
    """Catches programs that do something else in double precision, where random numbers are others, as excuses."""
    assert not judged([0.1, 1.0], [0.2, 1.0], "{0} / 3")

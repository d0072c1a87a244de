"""Programs that eager refuses: each does, after lines that compute and writes, and a line that is let through shows."""

import hashlib
from collections.abc import Iterator

import pytest
import torch

from dovetail.tools.fuzz import errors
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.compare import Difference, differences
from dovetail.tools.fuzz.errors.lines import CAUSES
from dovetail.tools.fuzz.observe import Observed, observe
from dovetail.tools.fuzz.program import Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.seeds import programs
from dovetail.tools.fuzz.world import World

# Of the first seeds' sources, by generator. A new entry needs a new number: old reports name seeds of the old one.
DIGESTS = {1: "3d131cf6eead4c65", 2: "b20e58fa4dee6809"}
COUNT = 60

SOURCE = """
import torch

def fn(x):
    {body}

def inputs_0():
    x = torch.arange(4.0)
    return locals()
"""


@pytest.fixture(scope="module")
def drawn() -> list[Program]:
    return [programs("errors", seed)[0] for seed in range(COUNT)]


def observed(program: Program) -> Observed:
    world = World(render(program))
    return observe(world, world.fn, 0, [each.name for each in program.parameters], program.calls[0].mode, "none")


def found(right: str, wrong: str) -> Iterator[Difference]:
    worlds = [World(SOURCE.format(body=body)) for body in (right, wrong)]
    return iter(differences(0, *(observe(each, each.fn, 0, ["x"], "", "none") for each in worlds)))


def test_seed_means_the_same_program(drawn: list[Program]) -> None:
    """Catches a draw that changes under the same generator number, or that depends on what ran before."""
    text = "".join(f"{render(each)}{[call.backward for call in each.calls]}" for each in drawn)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[errors.GENERATOR]
    assert programs("errors", 7)[0] == drawn[7]


def test_every_program_raises(drawn: list[Program]) -> None:
    """Catches programs that eager accepts, causes that are not drawn, and writes before the error that never are."""
    assert all(observed(each).raised is not None for each in drawn)
    lines = [line.template for each in drawn for line in each.body]
    assert all(any(line in templates for line in lines) for templates in CAUSES.values())
    assert any("detach().add_(1)" in line for line in lines)


def test_errors_are_compared() -> None:
    """Catches another class of error, and arguments that hold what neither eager left nor the caller passed."""
    raised = "raise IndexError('no')"
    assert not [*found(raised, raised)]
    assert [each.kind for each in found(raised, "raise ValueError('no')")] == ["error"]
    assert not [*found(f"x.add_(1); {raised}", raised)]
    assert [each.kind for each in found(f"x.add_(1); x.mul_(2); {raised}", f"x.mul_(2); {raised}")] == ["value"]
    assert [each.kind for each in found(raised, "return x")] == ["not raised"]


def test_what_is_let_through_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches wrong types that run op by op, where ATen refuses them whatever the compiler makes of them."""
    (program,) = programs("errors", 125)
    assert "1 - ({0} > 0)" in [line.template for line in program.body]
    assert check(program, "dovetail", iree=True).status == "eager raised"
    monkeypatch.setattr("dovetail.frontend.observe.untraceable.eager_error", lambda *_: None)
    torch.compiler.reset()
    (difference,) = check(program, "dovetail", iree=True).found
    assert difference.kind == "not raised"

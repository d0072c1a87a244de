"""Programs whose callers take derivatives in other ways: each way is drawn, and finds what went wrong in it once."""

import hashlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from unittest.mock import patch

import pytest
import torch

from dovetail.frontend.dynamo.checkpoint_regions import CheckpointedRegion
from dovetail.runtime.autograd.border import Border
from dovetail.tools.fuzz import derivatives
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.compare import differences
from dovetail.tools.fuzz.derivatives import uses
from dovetail.tools.fuzz.derivatives.generate import REDRAWING
from dovetail.tools.fuzz.observe import BatchingError, Observed, observe
from dovetail.tools.fuzz.program import Program, code_lines
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.seeds import programs
from dovetail.tools.fuzz.world import World

# Of the first seeds' sources, by generator. A new entry needs a new number: old reports name seeds of the old one.
DIGESTS = {1: "931b90dcca62117a", 2: "c1eedf1a06355aa5"}
COUNT = 60

SOURCE = """
import torch

def fn(x, mask):
    {body}

def inputs_0():
    x = (torch.arange(8.0) / 4 - 0.5).requires_grad_()
    mask = torch.arange(8) > 2
    return locals()
"""


@pytest.fixture(scope="module")
def drawn() -> list[Program]:
    return [programs("derivatives", seed)[0] for seed in range(COUNT)]


def observed(body: str, backward: str) -> Observed:
    world = World(SOURCE.format(body=body))
    return observe(world, world.fn, 0, ["x", "mask"], "", backward)


def gradients(seen: Observed) -> dict[str, torch.Tensor]:
    return {what: each for (kind, what), each in seen.values.items() if kind == "gradient"}


def test_seed_means_the_same_program(drawn: list[Program]) -> None:
    """Catches a draw that changes under the same generator number, or that depends on what ran before."""
    text = "".join(f"{render(each)}{[call.backward for call in each.calls]}" for each in drawn)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[derivatives.GENERATOR]
    assert programs("derivatives", 7)[0] == drawn[7]


def test_every_way_is_drawn() -> None:
    """Catches a way, a form, or a line without ordinary derivatives that the fuzzer never draws."""
    found = [programs("derivatives", seed)[0] for seed in range(140)]
    ways = {use[0] for each in found for call in each.calls if (use := uses.read(call.backward))}
    assert ways == {name for name, _ in uses.documented()}
    assert {each.form for each in found} == {"", "checkpoint", REDRAWING}
    text = " ".join(line.template for each in found for line in code_lines(each.body))
    assert not [each for each in ("sqrt()", "floor()", "zero_()", "detach()", "dropout") if each not in text]


@pytest.mark.parametrize("name", [name for name, _ in uses.documented()])
def test_way_tells_functions_apart(name: str) -> None:
    """Catches a way that asks nothing, or whose batches the judge would compute to other numbers."""
    bodies = ("return (x.sin() * x.sum(), x.exp())", "return (x.sin() * x.sum(), x.detach().exp())")
    right, wrong = (observed(body, uses.written(name, (0, 1))) for body in bodies)
    assert gradients(right)
    assert not [each for (kind, _), each in right.facts.items() if kind == "note"]
    assert {difference.kind for difference in differences(0, right, wrong)} & {"gradient", "raised", "requires_grad"}
    alone = observed(bodies[0], uses.one_by_one(uses.written(name, (0, 1))))
    torch.testing.assert_close(gradients(alone), gradients(right))


def test_absent_gradients_are_no_zeros() -> None:
    """Catches a gradient of zeros where eager gives None, and the reverse."""
    for name in ("grad", "batched", "vmap", "second"):
        zeros, none = (
            observed(f"return x * 2, {each}", uses.written(name, (1,)))
            for each in ("x.floor() * 1", "(x - x.detach()).clone()")
        )
        assert differences(0, zeros, none)


def test_smaller_ways() -> None:
    """Catches a minimal program that asks of more results than it needs."""
    assert uses.smaller("second of 0 2") == ["second of 2", "second of 0"]
    assert uses.smaller("second of 0") == uses.smaller("once") == []


def _switched_off() -> Iterator[tuple[str, int, AbstractContextManager]]:
    """What was mended once, a seed that meets it, and the state before the mend."""
    yield "forward mode", 62, patch("dovetail.variants._has_derivative", lambda values: False)
    yield "batched gradients", 5, patch("dovetail.runtime.autograd.node.is_batched", lambda gradients: False)
    yield "absent gradients", 49, patch.object(Border, "absent", lambda *_: frozenset())
    alike = patch(
        "dovetail.frontend.dynamo.inline_subgraphs.CheckpointedRegion",
        lambda *given: CheckpointedRegion(*given[:2], True),
    )
    yield "numbers drawn anew", 64, alike


@pytest.mark.parametrize(("seed", "before"), [pytest.param(*rest, id=name) for name, *rest in _switched_off()])
def test_old_defects_are_found(seed: int, before: AbstractContextManager) -> None:
    """Catches ways that are drawn, but do not show what was wrong in them."""
    (program,) = programs("derivatives", seed)
    assert check(program, "dovetail").status == "same"
    with before:
        assert check(program, "dovetail").status == "different"


def test_gaps_of_batching_rules_are_no_errors() -> None:
    """Catches the word of PyTorch's rules for batches against a compiler that has no need of them."""
    body = "return (torch.nn.functional.group_norm(x.view(2, 4), 4),)"
    refused, computed = (observed(body, uses.written(name, (0,))) for name in ("batched_second", "second"))
    assert isinstance(refused.facts["note", "backward"], BatchingError)
    assert not differences(0, refused, replace(refused, facts=refused.facts | {("raised", "backward"): False}))
    assert ("note", "backward") not in computed.facts

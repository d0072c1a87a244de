"""Programs whose calls have other sizes each: a seed is a program for ever, and sizes change that eager lets change."""

import hashlib
from collections.abc import Callable, Sequence

import pytest
import torch

from dovetail.tools.fuzz import backends
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.computations import sizes
from dovetail.tools.fuzz.program import Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.seeds import programs
from dovetail.tools.fuzz.world import World

# Of the first seeds' sources, by generator. A new entry needs a new number: old reports name seeds of the old one.
DIGESTS = {6: "ca818bc30d03580a", 7: "c098df3f0ad0c2eb"}
SEEDS = [each for each in range(140) if each % 10]
MORE_SEEDS = [each for each in range(140, 460) if each % 10]  # until lines that seldom apply are drawn

Shapes = Sequence[tuple[int, ...]]


@pytest.fixture(scope="module")
def drawn() -> dict[int, Program]:
    return {seed: programs("dynamic", seed)[0] for seed in SEEDS}


def test_seed_means_the_same_programs(drawn: dict[int, Program]) -> None:
    """Catches a draw that changes under the same generator number, or that depends on what ran before."""
    text = "".join(f"{render(each)}{each.dynamic}" for each in drawn.values())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[sizes.GENERATOR]
    assert programs("dynamic", 7)[0] == drawn[7]


def test_program_is_drawn_on_the_cpu(drawn: dict[int, Program]) -> None:
    """Catches a draw on the device of the runs: a GPU that is asked by a bad index runs nothing any more."""
    with torch.device("meta"):
        assert [programs("dynamic", seed)[0] for seed in SEEDS[:8]] == [drawn[seed] for seed in SEEDS[:8]]


def test_sizes_change(drawn: dict[int, Program]) -> None:
    """Catches calls that all have the first one's sizes, so that one compiled for these passes."""
    changed = [each for each in drawn.values() if len(set(map(str, _shapes(each)))) > 1]
    assert len(changed) > 0.8 * len(drawn)
    assert {each.dynamic for each in changed} == {True, None}
    assert {len(each.calls) for each in changed} == {2, 3, 4}


def test_equal_sizes_stay_equal(drawn: dict[int, Program]) -> None:
    """Catches equal sizes that part, which eager mostly refuses, and others for 0 and 1, which have own graphs."""
    for each in drawn.values():
        first, *others = _shapes(each)
        for shapes in others:
            sizes_of_first = [size for shape in first for size in shape]
            now = [size for shape in shapes for size in shape]
            pairs = set(zip(sizes_of_first, now, strict=True))
            assert len({before for before, _ in pairs}) == len({after for _, after in pairs}) == len(pairs)
            assert all(before == after for before, after in pairs if before < 2)


def test_lines_about_sizes_are_drawn(drawn: dict[int, Program]) -> None:
    """Catches lines that never apply, or whose results nothing holds: no program of open sizes wrote in place."""
    more = [programs("dynamic", seed)[0] for seed in MORE_SEEDS]
    text = "\n".join(map(render, [*drawn.values(), *more]))
    wanted = [" // 2", "+ 1) // 2", "round(", "(0, 2)", "narrow(", ".view(", "roll(", ".add_(", ".fill_("]
    wanted += ["n0 = x0.shape", "mean(n0", "= x0\n", "x0.detach()\n", "lerp_("]
    wanted += ["torch.where(x0 > 0, 2.0, 2.0)", "* 0 + 3", ".clamp(5, 5)", "zeros_like(", "slice_scatter("]
    wanted += ["% 3", "abs(x", "* 0.7", "int(n0", "min(x", "- 2)", ".unfold(", "amin("]
    assert not [each for each in wanted if each not in text]
    worlds = {each: World(render(each)) for each in drawn.values()}
    written = 0
    for each, world in worlds.items():
        inputs = world.inputs(0)
        torch._dynamo.reset()  # a branch of other sizes, which eager compiles, would be of open ones
        world.fn(*(inputs[parameter.name] for parameter in each.parameters))
        world.close()
        is_written = any(tensor._version for tensor in inputs.values() if isinstance(tensor, torch.Tensor))
        assert not (is_written and each.form)
        written += is_written
    assert written >= len(drawn) // 10


def test_one_graph_serves_all_sizes(drawn: dict[int, Program]) -> None:
    """Catches a program that is compiled as if its sizes were known: each call would have a graph of its own."""
    outcome = check(_one_of_several_sizes(drawn), "dovetail")
    assert outcome.status == "same"
    assert outcome.graphs == 1
    assert not outcome.specialised


def test_later_sizes_are_compared(drawn: dict[int, Program], monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches calls that are not looked at: this backend is wrong for all sizes but those of the first one."""

    def wrong_later(gm: torch.fx.GraphModule, inputs: list) -> Callable:
        first: list = []

        def run(*args):
            shapes = [each.shape for each in args if isinstance(each, torch.Tensor)]
            first[:] = first or [shapes]
            return [each if shapes == first[0] else each * 2 + 1 for each in gm.forward(*args)]

        return run

    monkeypatch.setitem(backends.BACKENDS, "planted", wrong_later)
    found = check(_one_of_several_sizes(drawn), "planted").found
    assert found
    assert all(each.call > 0 for each in found)


def _one_of_several_sizes(drawn: dict[int, Program]) -> Program:
    """One without what has graphs of its own: calls that record no gradients, windows, modules and branches."""
    open_ones = [each for each in drawn.values() if each.dynamic and not any(call.mode for call in each.calls)]
    words = ("unfold(", "class Module", "cond(", "n0")
    plain = (each for each in open_ones if not any(word in render(each) for word in words))
    return next(each for each in plain if len({*map(str, _shapes(each))}) == 4)


def _shapes(program: Program) -> list[Shapes]:
    """Of each call's arguments."""
    world = World(render(program))
    try:
        return [
            [tuple(inputs[parameter.name].shape) for parameter in program.parameters if not parameter.made]
            for inputs in map(world.inputs, range(len(program.calls)))
        ]
    finally:
        world.close()


def test_a_line_that_gives_no_tensor_is_not_drawn():
    """Catches `x1 * n0` of one whole number and a tuple, which Python repeats: the process of seed 5004 ended."""
    assert "x1 * n0" not in render(sizes.generate(5004))

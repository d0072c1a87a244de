"""Programs whose sizes only data tells: a seed is a program for ever, and what hangs on the number of rows shows."""

import hashlib
from collections.abc import Callable

import pytest
import torch

from dovetail.tools.fuzz import backends, data
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.seeds import programs

# Of the first seeds' sources, by generator. A new entry needs a new number: old reports name seeds of the old one.
DIGESTS = {1: "d05251e13d03c70f", 2: "e605a6bcfeddadcd"}
COUNT = 70


@pytest.fixture(scope="module")
def drawn() -> list[Program]:
    return [programs("data", seed)[0] for seed in range(COUNT)]


def test_seed_means_the_same_program(drawn: list[Program]) -> None:
    """Catches a draw that changes under the same generator number, or that depends on what ran before."""
    text = "".join(f"{render(each)}{each.dynamic}" for each in drawn)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[data.GENERATOR]
    assert programs("data", 7)[0] == drawn[7]


def test_each_line_is_drawn(drawn: list[Program]) -> None:
    """Catches lines that never apply, and calls that are all of one size, or with the same numbers."""
    lines = "\n".join(str(line) for each in drawn for line in each.body)
    wanted = [".nonzero()", ".item()", "torch.unique(", ".masked_select(", ".repeat_interleave("]
    wanted += [".transpose(0, 1).contiguous()", ".transpose(0, 1).reshape(-1)", ".transpose(0, 1).flatten()"]
    wanted += [".add_(1)", ".select(0, 0).add_(1)", ".fill_(3)", ".cumsum(", "torch.cat([", ".sort(", ".pad("]
    assert not [each for each in wanted if each not in lines]
    assert all(each.fullgraph and len(each.calls) > 1 for each in drawn)
    assert all(len({str(call.inputs) for call in each.calls}) == len(each.calls) for each in drawn)


def test_a_copy_that_is_none_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a judge that misses writes through what is a view for one row alone: this backend always copies."""

    def copies(gm: torch.fx.GraphModule, inputs: list) -> Callable:
        for node in gm.graph.nodes:
            if node.target == "contiguous":
                node.target = "clone"
        gm.recompile()
        return gm.forward

    monkeypatch.setitem(backends.BACKENDS, "planted", copies)
    body = [
        CodeLine("{0}[torch.arange({0}.shape[0]) < 1]", ("x0",), ("v0",)),
        CodeLine("{0}.transpose(0, 1).contiguous()", ("v0",), ("v1",)),
        CodeLine("{0}.add_(1)", ("v1",), ("v2",)),
    ]
    call = Call((CodeLine("torch.ones(3, 4)", (), ("x0",)),), "torch.no_grad()", (), "none")
    results = (CodeLine("{0}", ("v0",)),)
    program = Program((Parameter("x0", (3, 4)),), tuple(body), results, (call,), dynamic=True, fullgraph=True)
    assert check(program, "planted").status == "different"
    assert check(program, "dovetail").status == "same"

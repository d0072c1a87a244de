"""How much work it is to compile a model: counted, since time depends on the machine."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import dovetail
from dovetail.backends.compiling.compiler_runs import CompilerRuns, Run
from dovetail.frontend.trace.alias_free import AliasFree
from dovetail.tools.demo.tasks import GPT2
from dovetail.tools.demo.trainer import Trainer


def test_regions_of_a_model_are_compiled_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch regions that are compiled one by one or again, and passes of IREE's in whose place ours are.

    And a graph that PyTorch runs more than once to trace it.
    """
    commands: list[tuple[str, ...]] = []
    traced: list[None] = []
    execute, forward = CompilerRuns.execute, AliasFree.forward

    def counted(runs: CompilerRuns, command: Sequence[str], data: bytes, timeout: float) -> Run:
        phases = [each.partition("=")[2] for each in command if each.startswith("--compile-")]
        commands.append((Path(command[0]).name, *phases))
        return execute(runs, command, data, timeout)

    def counted_forward(self, *primals):
        traced.append(None)
        return forward(self, *primals)

    monkeypatch.setattr(CompilerRuns, "execute", counted)
    monkeypatch.setattr(AliasFree, "forward", counted_forward)
    monkeypatch.setattr("torch.get_num_threads", lambda: 1)  # one batch
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    dovetail.stats(reset=True)
    Trainer(GPT2, "dovetail").backward(GPT2.batch(0))
    stats = dovetail.stats()
    assert len(traced) == 1
    assert commands == [("iree-compile", "flow"), ("iree-opt",), ("iree-opt",)]
    assert (stats.cache_hits, stats.failures, stats.launches.keys()) == (0, {}, {"plan"})
    assert stats.executables <= 18
    assert stats.launches["plan"] <= 22

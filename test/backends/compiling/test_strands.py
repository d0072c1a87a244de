"""Regions whose tensors have nothing in common are compiled in strands, and run as they would as a whole."""

import re
import shlex
from pathlib import Path

import pytest
import torch
from compiled_regions import compile_regions
from torch_mlir import ir

from dovetail.backends.compiling import batches, iree
from dovetail.backends.compiling.compiler_runs import Cause, CompilerRuns, Run
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.backends.compiling.strands import Strand, joined, strands
from dovetail.backends.target import CpuTarget
from dovetail.dialects.attributes import ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.load_plan import load_plan

SIZES = (96, 64, 96, 96, 96, 64, 96)


def region(sizes: tuple[int, ...]) -> str:
    """Makes of each row of such a size the softmax of its exponential's softmax, and fills a number."""
    arguments = [f"%x{index}: !torch.vtensor<[{size},8],f32>" for index, size in enumerate(sizes)]
    arguments += [f"%d{index}: !torch.tensor<[{size},8],f32>" for index, size in enumerate(sizes)]
    lines = ["%one = torch.constant.int 1", "%zero = torch.constant.int 0", "%false = torch.constant.bool false"]
    for index, size in enumerate(sizes):
        value, memory = f"!torch.vtensor<[{size},8],f32>", f"!torch.tensor<[{size},8],f32>"
        softmax = f": {value}, !torch.int, !torch.bool -> {value}"
        lines += [
            f"%s{index} = torch.aten._softmax %x{index}, %one, %false {softmax}",
            f"%t{index} = torch.aten._softmax %s{index}, %zero, %false {softmax}",
            f"torch.overwrite.tensor.contents %t{index} overwrites %d{index} : {value}, {memory}",
        ]
    arguments.append("%filled: !torch.tensor<[5],si64>")
    lines += [
        "%five = torch.vtensor.literal(dense<[3, 1, 4, 1, 5]> : tensor<5xsi64>) : !torch.vtensor<[5],si64>",
        "torch.overwrite.tensor.contents %five overwrites %filled : !torch.vtensor<[5],si64>, !torch.tensor<[5],si64>",
        "return",
    ]
    body = "\n    ".join(lines)
    return f"module {{\n  func.func @main({', '.join(arguments)}) {{\n    {body}\n  }}\n}}\n"


def run(text: str, plan: LaunchPlan, *tensors: torch.Tensor) -> None:
    module = parse_module(text, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (plan.steps, digest(plan.code))})
    load_plan(plans(module)["main"], plan.code)(*tensors)


@pytest.fixture
def functions(remembered_runs: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """How many functions each run of the compiler begins with."""
    counts: list[int] = []
    run = CompilerRuns.run

    def counted(runs, flags, source, timeout):
        if "--compile-to=flow" in flags:
            counts.append(source.count("func.func"))
        return run(runs, flags, source, timeout)

    monkeypatch.setattr(CompilerRuns, "run", counted)
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    return counts


def compiled(text: str) -> LaunchPlan:
    outcome = compile_regions({"main": text}, CpuTarget(), timeout=120, plans=True)["main"]
    assert isinstance(outcome, LaunchPlan), outcome
    return outcome


def test_equal_parts_are_compiled_once_and_run_for_each(functions: list[int], monkeypatch: pytest.MonkeyPatch):
    """Would catch a plan whose strand runs on another one's memory, or before what it waits for."""
    text = region(SIZES)
    in_parts = compiled(text)
    monkeypatch.setattr(iree, "strands", lambda text: [])
    whole = compiled(text)
    assert functions == [3, 1]  # the first one fills the number, too
    inputs = [torch.randn(size, 8) for size in SIZES]
    results = []
    for plan in (in_parts, whole):
        results.append([*(torch.full((size, 8), 7.0) for size in SIZES), torch.zeros(5, dtype=torch.int64)])
        run(text, plan, *inputs, *results[-1])
    assert all(map(torch.equal, *results))
    torch.testing.assert_close(results[0][:-1], [each.softmax(1).softmax(0) for each in inputs])
    waits = [[step["op"] for step in plan.steps["steps"]].count("barrier") for plan in (in_parts, whole)]
    assert 0 < waits[0] <= waits[1]


def test_joined_that_do_not_join_are_compiled_as_a_whole(functions: list[int], monkeypatch: pytest.MonkeyPatch):
    """Would catch a region without a plan, though the compiler makes one."""
    monkeypatch.setattr(batches, "joined", lambda made: None)
    compiled(region(SIZES))
    assert functions == [3, 1]


def test_one_that_fails_fails_alone(functions: list[int], monkeypatch: pytest.MonkeyPatch):
    """Would catch a region that is compiled as a whole after one of its strands has failed: it fails again, later."""
    run = CompilerRuns.run
    failed, writes = Run(b"", "", "error: too tall", Cause.ERROR), set()

    def failing(runs, flags, source, timeout):
        found = run(runs, flags, source, timeout)
        writes.add(source.count("overwrite.tensor.contents"))
        return failed if "<64x8xf32>" in source or "[64,8]" in source else found

    monkeypatch.setattr(CompilerRuns, "run", failing)
    outcome = compile_regions({"main": region(SIZES)}, CpuTarget(), timeout=120, plans=True)["main"]
    assert isinstance(outcome, CompileFailure)
    assert outcome.reason == "error: too tall"
    assert max(writes) == 4  # of the three strands, one of which fills the number; the whole has eight
    assert Path(shlex.split(outcome.reproducer)[1]).read_text().count("overwrite.tensor.contents") == 1


PLAN = {"arguments": 1, "values": [], "transients": [], "constants": [], "steps": []}


@pytest.mark.parametrize("other", [LaunchPlan(PLAN, b"b"), LaunchPlan(PLAN | {"values": [["size", 0, 0]]}, b"a")])
def test_what_does_not_join(other: LaunchPlan):
    """Would catch steps that are looked up in another executable's code, or numbers that are another strand's."""
    assert joined([(Strand("", (0,), 2), LaunchPlan(PLAN, b"a")), (Strand("", (1,), 2), other)]) is None


def test_what_shares_a_tensor_is_one_part():
    """Would catch a value that a strand takes, and another strand makes."""
    assert len(strands(region(SIZES))) == len(SIZES)
    assert strands(region(SIZES[:1])) == []
    assert len(strands(region(SIZES).replace("%x1,", "%s0,").replace("64,8", "96,8"))) == len(SIZES) - 1
    assert strands(re.sub(r"\[96,8\]", "[?,8]", region(SIZES))) == []


def test_a_batch_takes_regions_of_the_same_parts():
    """Would catch strands that are compiled once for each process."""
    shared, other = (
        [Strand("a" * 9, (0,), 2), Strand("b" * 9, (1,), 2)],
        [Strand("c" * 9, (0,), 2), Strand("d" * 9, (1,), 2)],
    )
    split = {"first": shared, "second": other, "third": shared[::-1]}
    found = batches.batches(dict.fromkeys(split, "whole" * 99) | {"alone": "e" * 5}, split, 2)
    assert sorted(map(sorted, found)) == [["alone", "first", "third"], ["second"]]


def test_each_op_stands_in_a_strand_once():
    """Would catch an op that is cloned once for its user and once for itself: each call would compute it twice."""
    assert {strand.text.count("torch.aten._softmax") for strand in strands(region(SIZES + SIZES))} == {2}

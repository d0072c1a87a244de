"""Regions that gather one number of each row: their kernels check where, however they are compiled."""

import re

import pytest
from compiled_regions import compile_regions

from dovetail.backends.compiling import iree, iree_worker
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure, Outcome
from dovetail.backends.cuda import assembler
from dovetail.backends.target import target_for_device
from test.support.gpu_regions import region


def gather(rows: int, length: int, dtype: str) -> str:
    """The region of a gather from a tensor of known sizes by another argument, and of an op behind it."""
    source, made = f"!torch.vtensor<[{rows},{length}],{dtype}>", f"!torch.vtensor<[{rows},1],{dtype}>"
    index = f"!torch.vtensor<[{rows},1],si64>"
    ops = f"""%g = torch.aten.gather %x, %one, %i, %false : {source}, !torch.int, {index}, !torch.bool -> {made}
    %y = torch.aten.neg %g : {made} -> {made}"""
    text = region(f"{rows},{length}", dtype, ops, f"{rows},1")
    return text.replace(f"(%x: {source}, ", f"(%x: {source}, %i: {index}, ")


def trained(rows: int, length: int) -> str:
    """The region of a loss of classes that keeps the probabilities, too, for its gradient."""
    x, kept, index = (
        f"!torch.vtensor<[{rows},{each}],{dtype}>" for each, dtype in ((length, "f32"), (1, "f32"), (1, "si64"))
    )
    sum_types = "!torch.list<int>, !torch.bool, !torch.none"
    ops = f"""%true = torch.constant.bool true
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %largest = torch.aten.amax %x, %last, %true : {x}, !torch.list<int>, !torch.bool -> {kept}
    %less = torch.aten.sub.Tensor %x, %largest, %one : {x}, {kept}, !torch.int -> {x}
    %powers = torch.aten.exp %less : {x} -> {x}
    %total = torch.aten.sum.dim_IntList %powers, %last, %true, %none : {x}, {sum_types} -> {kept}
    %log = torch.aten.log %total : {kept} -> {kept}
    %g = torch.aten.gather %x, %one, %i, %false : {x}, !torch.int, {index}, !torch.bool -> {kept}
    %0 = torch.aten.sub.Tensor %g, %largest, %one : {kept}, {kept}, !torch.int -> {kept}
    %1 = torch.aten.sub.Tensor %0, %log, %one : {kept}, {kept}, !torch.int -> {kept}
    %2 = torch.aten.neg %1 : {kept} -> {kept}
    torch.overwrite.tensor.contents %2 overwrites %l : {kept}, {kept.replace("vtensor", "tensor")}
    %3 = torch.aten.sub.Tensor %less, %log, %one : {x}, {kept}, !torch.int -> {x}
    %y = torch.aten.exp %3 : {x} -> {x}"""
    text = region(f"{rows},{length}", "f32", ops)
    return text.replace(f"(%x: {x}, ", f"(%x: {x}, %i: {index}, %l: {kept.replace('vtensor', 'tensor')}, ")


REGIONS = {f"{dtype} {length}": gather(64, length, dtype) for dtype in ("f32", "bf16", "f16") for length in (8, 3001)}
REGIONS["trained"] = trained(512, 4096)


@pytest.mark.parametrize("name", [name for name in REGIONS if name != "trained"])
def test_each_position_is_checked(name: str, compiled: dict[str, Outcome]):
    """Catches a position that is bounded alone, and a check by the number of another tensor's rows."""
    plan = compiled[name]
    assert isinstance(plan, LaunchPlan), plan
    code = plan.code.decode()
    bound = {"8": "0d4020000000000000", "3001": "0d40A7720000000000"}[name.split()[1]]
    first = plan.steps["steps"][0]["entry"]
    [kernel] = [each for each in re.split(r"(?=\.visible \.entry)", code) if f"{first}(" in each]
    checks = re.findall(r"setp\.lt\.and\.f64 p, %rd\d+, (\w+), p;.*@!p call __assertfail", kernel)
    assert set(checks) == {bound}
    assert len(checks) == len(re.findall(r"ld\.global\.b(?:32|16)\s", kernel))
    assert code.count(".extern .func __assertfail") == 1
    assert plan.steps["steps"][0]["waits"]
    assert plan.steps["steps"][0]["tiling"] == "pointwise"


def test_rows_are_one_kernel_beside_a_gather(compiled: dict[str, Outcome]):
    """Catches a kernel of rows that has two ends, what a row's loss is of and its probabilities, and is cut by IREE."""
    plan = compiled["trained"]
    assert isinstance(plan, LaunchPlan), plan
    launches = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
    assert sorted(step["tiling"] for step in launches) == ["pointwise", "pointwise", "rows"]
    large = 4 * 512 * 4096
    [rows] = [step for step in launches if step["tiling"] == "rows"]
    assert [size for _, _, size in rows["bindings"]].count(large) == 2


def test_what_can_not_be_edited_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Catches a kernel without checks, where an edit fails and IREE's own kernels would do."""
    ask, failed = iree_worker.worker.ask, []

    def without_the_last(asked, text: bytes, timeout: float):
        if asked["task"] != "finish":
            return ask(asked, text, timeout)
        failed.append(asked["task"])
        raise OSError("an edit that fails")

    monkeypatch.setattr(iree_worker.worker, "ask", without_the_last)
    monkeypatch.setattr(assembler, "assembler", lambda: "")
    monkeypatch.setattr(iree, "_failures", {})
    texts = {"gathers": gather(64, 16, "f32")}
    outcome = compile_regions(texts, target_for_device("cuda:sm_90"), timeout=60, plans=True, jobs=1)["gathers"]
    assert failed
    assert isinstance(outcome, CompileFailure), outcome

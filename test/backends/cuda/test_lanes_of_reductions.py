"""Reductions that IREE deals to more subgroups than lanes, by tiles of its own."""

import pytest
from compiled_regions import compile_regions

from dovetail.backends.compiling import iree
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure, Outcome
from dovetail.backends.target import target_for_device

SUM_OF_DIFFERENCES = """module {
  func.func @main(%x: !torch.vtensor<[24,20],f32>, %y: !torch.vtensor<[24,1],f32>, %o: !torch.tensor<[],f32>) {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %all = torch.prim.ListConstruct : () -> !torch.list<int>
    %z = torch.aten.sub.Tensor %x, %y, %one : !torch.vtensor<[24,20],f32>, !torch.vtensor<[24,1],f32>, !torch.int
        -> !torch.vtensor<[24,20],f32>
    %s = torch.aten.sum.dim_IntList %z, %all, %false, %none
        : !torch.vtensor<[24,20],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[],f32>
    torch.overwrite.tensor.contents %s overwrites %o : !torch.vtensor<[],f32>, !torch.tensor<[],f32>
    return
  }
}
"""


def compiled(**texts: str) -> dict[str, Outcome]:
    return compile_regions(texts, target_for_device("cuda:sm_90"), timeout=60, plans=True, jobs=1)


def test_a_reduction_that_would_lose_parts_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Would catch IREE's own tiles of 4 lanes for 5 subgroups: the sum was a fifth of what it should be, silently."""
    monkeypatch.setattr(iree, "_failures", {})
    found = compiled(a=SUM_OF_DIFFERENCES)["a"]
    assert isinstance(found, CompileFailure)
    assert found.reason.endswith("a reduction would lose parts: 4 lanes read what 5 subgroups reduced")


def test_other_tiles_of_irees_are_no_reason_to_refuse():
    """Would catch as many lanes as subgroups, or tiles of another pipeline, of one thread, taken for a failure."""
    columns = SUM_OF_DIFFERENCES.replace("20]", "4]")
    row = SUM_OF_DIFFERENCES.replace("24,20]", "35]").replace("24,1]", "1]").replace("f32", "f64")
    tilings = {}
    for name, plan in compiled(columns=columns, rows=row).items():
        assert isinstance(plan, LaunchPlan), plan
        [launch] = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
        tilings[name] = launch["tiling"]
    assert tilings == {name: f"IREE's tiles: {name} of these sizes have no form" for name in ("columns", "rows")}

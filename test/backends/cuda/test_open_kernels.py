"""Kernels of open sizes: how they are tiled, and what their plans launch for some sizes."""

import math
import re

import pytest
import torch
from compiled_regions import compile_regions

from dovetail.backends.compiling import iree
from dovetail.backends.compiling.launch_plans import LaunchPlan, untiled
from dovetail.backends.cuda import assembler
from dovetail.backends.target import target_for_device
from dovetail.runtime.cuda.open_plan import OpenRecord
from test.support.gpu_regions import SOFTMAX, TANH, open_region, record_of, turn

REGIONS = {
    "flat": open_region("?,?", TANH),
    "vectors": open_region("?,768", TANH),
    "rows": open_region("?,768", SOFTMAX),
    "open rows": open_region("?,?", SOFTMAX),
    "turn": turn("?,3,4096", "f32"),
    "open turn": turn("4,3,?", "f32"),
}


@pytest.fixture(scope="module")
def compiled() -> dict[str, LaunchPlan]:
    """All regions, as PTX."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembler, "assembler", lambda: "")
        patch.setattr(iree, "_failures", {})
        target, outcomes = target_for_device("cuda:sm_90"), {}
        # IREE makes one kernel of two that differ only in what is known of their sizes: such are compiled apart.
        for names in (("flat", "rows"), ("vectors", "open rows"), ("turn", "open turn")):
            regions = {name: REGIONS[name] for name in names}
            outcomes |= compile_regions(regions, target, timeout=60, plans=True, jobs=1)
    assert all(isinstance(outcome, LaunchPlan) for outcome in outcomes.values()), outcomes
    return outcomes


@pytest.mark.parametrize(
    ("name", "tiling", "threads", "loads"),
    [
        ("flat", "pointwise", 256, {"ld.global.nc.b32"}),
        ("vectors", "pointwise", 128, {"ld.global.nc.v4.b32"}),
        ("rows", "rows", 64, {"ld.global.nc.v4.b32"}),
        ("open rows", "rows", 256, {"ld.global.nc.b32"}),
        ("turn", "turned", 64, {"ld.global.nc.v4.b32"}),
        ("open turn", "pointwise", 256, {"ld.global.nc.b32"}),
    ],
)
def test_forms(compiled: dict[str, LaunchPlan], name: str, tiling: str, threads: int, loads: set[str]):
    """Catches IREE's own tiles, no vectors where a length is known, and results kept in a thread's memory."""
    [launch] = [step for step in compiled[name].steps["steps"] if step["op"] == "dispatch"]
    assert (launch["tiling"], launch["workgroup_size"]) == (tiling, [threads, 1, 1])
    ptx = compiled[name].code.decode().partition(f".entry {launch['entry']}(")[2].partition(".visible")[0]
    assert set(re.findall(r"ld\.global[\w.]*", ptx)) == loads
    assert "__local_depot" not in ptx  # where IREE keeps the rows of a workgroup that it masks wrongly


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (5, 1001), (1001, 768), (2**20, 1531)], ids=str)
def test_numbers_of_launches(compiled: dict[str, LaunchPlan], sizes: tuple[int, int]):
    """Catches a grid that leaves the last elements out, and a number of which only the low half arrives."""
    by_elements = math.prod(sizes), -(-math.prod(sizes) // 1024)
    for name, shape, (word, groups) in [
        ("flat", sizes, by_elements),
        ("vectors", (sizes[0], 768), (768 * sizes[0], 3 * -(-sizes[0] // 2))),
        ("rows", (sizes[0], 768), (sizes[0], sizes[0])),
        ("open rows", sizes, (sizes[0], sizes[0])),
    ]:
        record = record_of(REGIONS[name], compiled[name])
        assert isinstance(record, OpenRecord)
        [step] = record.closed([torch.empty(shape, device="meta") for _ in range(2)]).steps
        assert step.workgroups == (groups, 1, 1)
        assert step.words[0] + (step.words[1] << 32) == word
        assert {each.size for each in step.bindings} == {4 * math.prod(shape)}


def test_tiles_of_irees_do_not_run():
    """Catches a kernel of open sizes in tiles that nobody has compared with anything."""
    launch = {"op": "dispatch", "entry": "a", "tiling": "IREE's tiles", "constants": ["%0"], "workgroups": ["%1", 1, 1]}
    assert untiled(LaunchPlan({"steps": [launch]}, b"")) == "of open sizes, IREE's tiles"
    assert untiled(LaunchPlan({"steps": [launch | {"tiling": "rows"}, {"op": "barrier"}]}, b"")) == ""
    assert untiled(LaunchPlan({"steps": [launch | {"constants": [7]}]}, b"")) == ""

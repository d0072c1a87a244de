"""Parts of a concatenation that a CPU's kernels write where they belong, beside eager."""

from typing import Any

import pytest
import torch
from compiled_regions import compile_regions

import dovetail
from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.target import WIDE_BITS, CpuTarget

REGION = """
!x = !torch.vtensor<[256,512],f32>
!y = !torch.vtensor<[256,256],f32>
!m = !torch.tensor<[256,512],f32>
module {
  func.func @main(%x: !x, %y: !y, %into: !m) {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %end = torch.constant.int 512
    %0 = torch.aten.slice.Tensor %x, %one, %one, %end, %two : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !y
    %1 = torch.aten.mul.Scalar %0, %two : !y, !torch.int -> !y
    %2 = torch.aten.neg %y : !y -> !y
    %3 = torch.prim.ListConstruct %1, %2 : (!y, !y) -> !torch.list<vtensor>
    %4 = torch.aten.cat %3, %one : !torch.list<vtensor>, !torch.int -> !x
    torch.overwrite.tensor.contents %4 overwrites %into : !x, !m
    return
  }
}
"""


@pytest.mark.usefixtures("remembered_runs")
def test_parts_are_written_by_what_computes_them(monkeypatch: pytest.MonkeyPatch):
    """Catches a part that is stored and copied, a join that is copied to the result, and a region lost with an edit."""
    asked = iree_worker.worker.ask

    def ask(what: dict[str, Any], text: bytes, timeout: float):
        if what["task"] == "write parts":
            raise OSError("exit status 1")
        return asked(what, text, timeout)

    def plan() -> dict[str, Any]:
        found = compile_regions({"a": REGION}, CpuTarget(by_parts=True), timeout=60, plans=True)["a"]
        assert isinstance(found, LaunchPlan)
        return found.steps

    steps = plan()
    assert [step["op"] for step in steps["steps"] if step["op"] != "barrier"] == ["dispatch", "dispatch"]
    assert not steps["transients"]
    assert "i64xf32" in steps["steps"][0]["entry"]
    monkeypatch.setattr(iree_worker.worker, "ask", ask)
    assert sum(step["op"] == "dispatch" for step in plan()["steps"]) > 2


@pytest.mark.parametrize(("bits", "element"), [*zip(WIDE_BITS, ("si8", "bf16", "f32"), strict=True)])
@pytest.mark.usefixtures("remembered_runs")
def test_each_width_that_passes_place_by_is_read(bits: int, element: str):
    """Catches a width by which `place-ops` gives a region a slice of a row, and its numbers are read one by one."""
    text = (
        REGION.replace("f32", element)
        .replace("neg", "abs")
        .replace("mul.Scalar %0, %two : !y, !torch.int", "abs %0 : !y")
    )
    found = compile_regions({"a": text}, CpuTarget(by_parts=True), timeout=60, plans=True)["a"]
    assert isinstance(found, LaunchPlan)
    entries = [step["entry"] for step in found.steps["steps"] if step["op"] == "dispatch"]
    assert f"_i{bits}x" in entries[0]


def joined(x: torch.Tensor, half: torch.Tensor, row: torch.Tensor) -> list[torch.Tensor]:
    """Rows beside rows: of each second or fourth number, of fewer rows, of no whole vectors, of three dimensions."""
    planes = x.view(4, 64, 512)
    return [
        torch.cat([x[:, ::2] * 2, x[:, 1::2].neg()], 1),
        torch.cat([half[:, 3::4] * row[:128], half[:, ::2].neg(), half[:, :104] + 1], 1),
        torch.cat([x[:, 4:204] + row[4:204], x[:1] * x, row + x], -1),
        torch.cat([planes[:, :, 1::2] - 1, planes[..., ::2] * planes[..., 1::2]], 1),
    ]


def test_what_is_joined_by_kernels_is_eagers():
    """Catches numbers of the wrong halves of wider ones, and parts at their edges, left out or over others."""
    torch.manual_seed(0)
    x, half, row = torch.randn(256, 512), torch.randn(256, 512).bfloat16(), torch.randn(512)
    x[3, 4:8] = torch.tensor([torch.nan, torch.inf, -0.0, 1e-42])
    tensors = x, half, row.bfloat16()
    dovetail.stats(reset=True)
    results = torch.compile(joined, backend="dovetail", options={"strict": True})(*tensors)
    for result, eager in zip(results, joined(*tensors), strict=True):
        torch.testing.assert_close(result, eager, rtol=0, atol=0, equal_nan=True)
        assert (result.stride(), result._version, result._base) == (eager.stride(), 0, None)
    stats = dovetail.stats()
    assert not stats.library_calls
    assert not stats.copies


def test_what_lies_otherwise_is_atens():
    """Catches a copy of an argument in columns, or of what is no whole number of wider ones, for a kernel to read."""
    tensors = torch.randn(300, 300).t(), torch.randn(300, 301)
    dovetail.stats(reset=True)

    def run(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.cat([x * 2, x + 1], 1), torch.cat([y[:, ::2] * 2, y[:, :100] + 1], 1)

    for result, eager in zip(torch.compile(run, backend="dovetail")(*tensors), run(*tensors), strict=True):
        assert torch.equal(result, eager)
    stats = dovetail.stats()
    assert sum(count for (op, _), count in stats.library_calls.items() if op == "aten.cat.default") == 2
    assert not stats.copies

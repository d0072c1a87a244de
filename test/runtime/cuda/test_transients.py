"""Memory that regions hold while they run, where several of them update arguments."""

import pytest
import torch
from driver_stand_in import Kernel, StandIn, on_device, stand_in

from dovetail.dialects.context import make_context, parse_module
from dovetail.runtime.cuda import torch_streams
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import Argument, PlanRecord
from dovetail.runtime.launches.plan_records import Dispatch, Range
from dovetail.runtime.program import load_plain_program

V, M, R = "!torch.vtensor<[4],f32>", "!torch.tensor<[4],f32>", "!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>"
REGION = f"""
  func.func private @NAME(%d: {M}) attributes {{dovetail.role = "region"}} {{
    %0 = torch.copy.to_vtensor %d : {V}
    %1 = torch.aten.exp %0 : {V} -> {V}
    torch.overwrite.tensor.contents %1 overwrites %d : {V}, {M}
    return
  }}"""
UPDATES = f"""
module attributes {{dovetail.level = "regions", dovetail.target = "cuda:sm_90"}} {{
  func.func @call(%x: {R}, %y: {R}) attributes {{dovetail.role = "call"}} {{
    call @guard(%x, %y) : ({R}, {R}) -> ()
    %0:2 = call @forward(%x, %y) : ({R}, {R}) -> ({R}, {R})
    "dovetail.write"(%0#0, %x) {{dovetail.in_place = "pointwise", mode = "no_grad"}} : ({R}, {R}) -> ()
    "dovetail.write"(%0#1, %y) {{dovetail.in_place = "pointwise", mode = "no_grad"}} : ({R}, {R}) -> ()
    return
  }}
  func.func private @guard({R} {{dovetail.name = "x"}}, {R} {{dovetail.name = "y"}})
    attributes {{dovetail.mutated = 2 : i64, dovetail.role = "guard"}}
  func.func @forward(%x: {R}, %y: {R}) -> ({R}, {R}) attributes {{dovetail.role = "forward"}} {{
    %0 = "dovetail.destination"(%x) {{proof = "pointwise"}} : ({R}) -> {M}
    call @first(%0) : ({M}) -> ()
    %1 = torch.copy.to_vtensor %0 : {V}
    %2 = "dovetail.destination"(%y) {{proof = "pointwise"}} : ({R}) -> {M}
    call @second(%2) : ({M}) -> ()
    %3 = torch.copy.to_vtensor %2 : {V}
    %4 = "dovetail.own"(%1) {{requires_grad = false}} : ({V}) -> {R}
    %5 = "dovetail.own"(%3) {{requires_grad = false}} : ({V}) -> {R}
    return %4, %5 : {R}, {R}
  }}
  {REGION.replace("NAME", "first")}
  {REGION.replace("NAME", "second")}
}}"""


def plan(name: str, transient_bytes: int) -> Plan:
    step = Dispatch("exp", (1, 1, 1), (32, 1, 1), 0, (), (Range(0, 0, 16),))
    record = PlanRecord(name, (Argument(torch.float32, (4,), True),), transient_bytes, b"", (step,))
    return Plan(record, load_library(b"code"))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    return stand_in(monkeypatch, Kernel("exp", (8,)))


@pytest.mark.parametrize(("first", "second", "asked"), [(0, 0, []), (512, 0, [512]), (0, 512, [512, 512])])
def test_memory_is_there_before_the_first_update(
    gpu: StandIn, monkeypatch: pytest.MonkeyPatch, first: int, second: int, asked: list[int]
) -> None:
    """Catches a second region that finds no memory when the first has written its argument."""
    program, _ = load_plain_program(
        parse_module(UPDATES, make_context()), {"first": plan("first", first), "second": plan("second", second)}
    )
    given, sizes = [on_device(torch.ones(4)) for _ in range(2)], []

    def allocate(count: int, _: int) -> torch.Tensor:
        sizes.append(count)
        return torch.empty(count, dtype=torch.uint8)

    monkeypatch.setattr(torch_streams, "allocate_bytes", allocate)
    program(list(given))
    assert sizes == asked
    assert len(gpu.launches()) == 2

    def fail(*_: int) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    if asked:
        monkeypatch.setattr(torch_streams, "allocate_bytes", fail)
        again, _ = load_plain_program(
            parse_module(UPDATES, make_context()), {"first": plan("first", first), "second": plan("second", second)}
        )
        with pytest.raises(torch.OutOfMemoryError):
            again(list(given))
        assert len(gpu.launches()) == 2

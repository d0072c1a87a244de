"""Where values lie, and what it costs to tell."""

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module, arguments, body
from dovetail.dialects.statements.devices import Devices

TENSOR, NUMBER, LIST = "!torch.vtensor<[4],f32>", "!torch.vtensor<[],si64>", "!torch.list<vtensor>"
TEXT = f"""
module attributes {{dovetail.target = "cuda:sm_90"}} {{
  func.func @main(%a: {TENSOR}) -> {TENSOR} {{
    %one = torch.constant.int 1
    %none = torch.constant.none
    %cpu = torch.constant.device "cpu"
    %home = torch.aten.add.Scalar %a, %one, %one : {TENSOR}, !torch.int, !torch.int -> {TENSOR}
    %again = torch.aten.neg %home : {TENSOR} -> {TENSOR}
    %number = torch.prim.NumToTensor.Scalar %one : !torch.int -> {NUMBER}
    %follows = torch.aten.mul.Scalar %number, %one : {NUMBER}, !torch.int -> {NUMBER}
    %taken = torch.aten.add.Tensor %again, %follows, %one : {TENSOR}, {NUMBER}, !torch.int -> {TENSOR}
    %after = torch.aten.neg %taken : {TENSOR} -> {TENSOR}
    %named = torch.aten.scalar_tensor %one, %none, %none, %cpu, %none
      : !torch.int, !torch.none, !torch.none, !torch.Device, !torch.none -> {NUMBER}
    %moved = torch.aten.neg %home {{dovetail.device = "cuda:1"}} : {TENSOR} -> {TENSOR}
    %listed = torch.prim.ListConstruct %moved, %home : ({TENSOR}, {TENSOR}) -> {LIST}
    %joined = torch.aten.cat %listed, %one : {LIST}, !torch.int -> {TENSOR}
    return %after : {TENSOR}
  }}
}}
"""


def test_only_what_may_lie_elsewhere_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a value that follows another one to its device and is taken for one at home; and that each pass asks
    every op of a program of one device where its operands are, which was a fifth of the passes' time."""
    asked: list[str] = []
    results = Devices._results
    monkeypatch.setattr(Devices, "_results", lambda self, op: asked.append(op.name) or results(self, op))
    with make_context() as context, ir.Location.unknown():
        module = parse_module(TEXT, context)
        function_op = Module(module).functions["main"]
        devices, ops = Devices(module), body(function_op)
        assert devices.of(arguments(function_op)[0]) == "cuda:0"
        found = [devices.of(op.results[0]) for op in ops[:-1]]
        home, follows, moved = "cuda:0", "cpu", "cuda:1"
        assert found == [home] * 5 + [follows] * 2 + [home] * 2 + [follows] + [moved] * 3
        # The number, what takes it, what names a device or takes a tensor from there; not what takes their results.
        assert len(asked) == 7
        with ir.InsertionPoint(ops[-1]):
            made = ir.Operation.create("torch.aten.neg", [ops[10].results[0].type], [ops[10].results[0]])
        assert devices.of(made.results[0]) == moved
        devices.forget(made)
        assert not devices.elsewhere(ops[4])

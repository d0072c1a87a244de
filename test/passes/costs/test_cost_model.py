"""The cost model's arithmetic, on which placement rests."""

import dataclasses

import pytest
from torch_mlir import ir

from dovetail.backends.target import TARGETS
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import body
from dovetail.passes.costs.cost_model import COSTS, CostModel

MODULE = """
func.func @main(%x: !torch.vtensor<[10,10],f32>) -> !torch.vtensor<[10,10],f32> {
  %one = torch.constant.int 1
  %zero = torch.constant.int 0
  %0 = torch.aten.add.Tensor %x, %x, %one : !torch.vtensor<[10,10],f32>, !torch.vtensor<[10,10],f32>, !torch.int -> !torch.vtensor<[10,10],f32>
  %1 = torch.aten.transpose.int %0, %zero, %one : !torch.vtensor<[10,10],f32>, !torch.int, !torch.int -> !torch.vtensor<[10,10],f32>
  %2 = torch.aten.exp %1 : !torch.vtensor<[10,10],f32> -> !torch.vtensor<[10,10],f32>
  return %2 : !torch.vtensor<[10,10],f32>
}
"""  # noqa: E501 (types can't be abbreviated in a function alone)

COST = CostModel(launch=10.0, argument=3.0, library_call=2.0, byte=0.01, reduction_depth=8, results=256)


@pytest.fixture
def module() -> ir.Module:
    return parse_module(MODULE, make_context())


def test_library_calls_move_memory_for_each_op(module):
    """Would catch constants that cost a call, and views that cost memory traffic."""
    # Three calls (add, transpose, exp); add moves three matrices of 400 bytes, exp two.
    ops = body(module.body.operations[0])[:-1]
    assert COST.as_library_calls(ops) == pytest.approx(3 * 2.0 + 0.01 * 5 * 400)


def test_a_region_moves_its_arguments_only(module):
    """Would catch what stays inside counted as memory traffic, and a launch whose first arguments count twice."""
    ops = body(module.body.operations[0])[:-1]
    x, result = ops[2].operands[0], ops[-1].results[0]
    assert COST.as_region([x], [result]) == pytest.approx(10.0 + 0.01 * 2 * 400)
    assert COST.as_region([x, x, x], [result]) == pytest.approx(10.0 + 2 * 3.0 + 0.01 * 4 * 400)


def test_every_target_has_costs_above_zero():
    """Would catch a target that can be compiled for but not placed for, and a constant that was measured as nothing."""
    assert set(COSTS) == {name.partition(":")[0] for name in TARGETS}
    for target, costs in COSTS.items():
        nothing = [name for name, value in dataclasses.asdict(costs).items() if not value > 0]
        assert nothing == (["odd_product"] if target == "cpu" else [])

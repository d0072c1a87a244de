"""Pass `call-small-regions`: regions that cost more to launch than their ops cost as library calls become these."""

from collections.abc import Iterator
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.inlining import inline_call
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import OwnOp, WriteOp
from dovetail.dialects.memory.roots import is_view, memory_root
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import (
    Module,
    Role,
    body,
    made_by,
    of_class,
    operand_ops,
    producer,
    returned,
    users,
)
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.target import DEFAULT, device_type
from dovetail.dialects.torch_facts.ops import Kind, aten_name, is_constant, kind, row
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import CostModel, costs_of
from dovetail.passes.placement.library_calls import clone_as_library_call
from dovetail.passes.placement.reasons import NO_CODE, SMALL


class CallSmallRegionsPass(Pass, name="call-small-regions", runs_at="program"):
    """Replaces a region beside a library call by library calls of its ops, where these cost no more: less to compile.

    Both costs are the target's, from `passes/costs/cost_model.py`; they stand in the reason. A region that touches
    no library call stays: a graph without any is one call of compiled code. So does a region that computes an
    argument's new value, which only a region can put in place. On a GPU a region that only fills its result always
    becomes a call: IREE makes no code of it, so it can't be launched.

    Before:  `%0 = torch.operator "torch.aten.mm"(%a, %b); %1 = call @forward_region_0(%0, %b)`
    After:   `%1 = torch.operator "torch.aten.add.Tensor"(%0, %b, %one) {dovetail.reason = "small: ..."}`
    """

    def run(self, module: ir.Module) -> None:
        found, costs, is_on_gpu = Module(module), costs_of(module), device_type(module) != DEFAULT
        written = set(_written(found))
        for host in found.of(Role.FORWARD, Role.BACKWARD).values():
            for op in of_class(body(host), func.CallOp):
                region = found.region(op)
                if region is None:
                    continue
                if is_on_gpu and all(row(op).is_fill for op in body(region)[:-1] if not is_constant(op)):
                    reason = NO_CODE.of()
                else:
                    reason = "" if written.intersection(op.results) else _reason(op, region, costs)
                if reason:
                    inline_call(op, region, partial(clone_as_library_call, reason=reason))
                    region.operation.erase()


def _written(found: Module) -> Iterator[ir.Value]:
    """The values of `@forward` that `@call` writes to its arguments."""
    handed_over = returned(found.forward) if Role.FORWARD in found else []
    for op in body(found.call) if Role.CALL in found else ():
        root = memory_root(op.operands[0]) if op.name == WriteOp.OPERATION_NAME else None
        if root is None or not producer(root):
            continue
        own = made_by(handed_over[ir.OpResult(root).result_number], OwnOp.OPERATION_NAME)
        if own is not None:
            yield own.operands[0]


def _reason(call: ir.Operation, region: func.FuncOp, costs: CostModel) -> str:
    """Why the region's ops should be library calls; "" where they should not."""
    ops = body(region)[:-1]
    if not _beside_library_call(call) or any(kind(op) is not Kind.CONSTANT and aten_name(op) is None for op in ops):
        return ""
    as_calls, as_region = costs.as_library_calls(ops), costs.as_region(call.operands, call.results)
    if as_calls > as_region:
        return ""
    return SMALL.of(as_calls=as_calls, as_region=as_region)


def _beside_library_call(call: ir.Operation) -> bool:
    """Whether a library call computes an operand of `call` or uses a result, directly or through views."""
    before = reachable(operand_ops(call), lambda op: operand_ops(op) if is_view(op) else ())
    behind = reachable(users(*call.results), lambda op: users(*op.results) if is_view(op) else ())
    return any(is_extern(op) and control_flow_name(op) is None for op in before | behind)

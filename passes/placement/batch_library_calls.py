"""Pass `batch-library-calls`: many equal library calls on few elements each become one."""

from collections.abc import Hashable
from functools import cache
from itertools import pairwise

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLACEMENT
from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.memory.roots import is_view
from dovetail.dialects.reading import Module, Role, body, operand_ops, producer, users
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.devices import Devices
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, aten_name, row
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info, torch_type, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import MOST_BINDINGS, CostModel, costs_of
from dovetail.passes.exactness.value_flow import deciding_ops
from dovetail.passes.placement.iree_support import refusal
from dovetail.passes.placement.placed_graph import placement_of
from dovetail.passes.rewriting.constants import constant, integer_list
from dovetail.passes.rewriting.slices import SLICE

_MOST = MOST_BINDINGS // 2 - 4
"""How many tensors are put together: IREE fuses what computes each, and often what else uses it, into one dispatch."""

_HANDING_OUT = (OwnOp.OPERATION_NAME, func.ReturnOp.OPERATION_NAME)


class BatchLibraryCallsPass(Pass, name="batch-library-calls", runs_at="split"):
    """Joins element-by-element fallbacks that differ in nothing but their tensor, where the calls saved cost more.

    An optimizer has such ops for each of its hundreds of parameters: bias corrections, powers of a step count. Only
    what does not depend on each other is joined, and never an op with an effect. Putting the tensors together is a
    region's work, taking them apart is views; so what is handed out or saved stays, in memory of its own. What may
    decide something stays as well: a part of what is joined would be computed from all of it, and again along the way.

    Before:  `%2 = torch.aten.pow.Scalar %b, %0 {fallback}; %3 = torch.aten.pow.Scalar %b, %1 {fallback}`
    After:   `%4 = torch.aten.cat [%0, %1]; %5 = torch.aten.pow.Scalar %b, %4 {fallback}`, `%2` and `%3` slices of it
    """

    def run(self, module: ir.Module) -> bool:
        device, costs, devices = device_type(module), costs_of(module), Devices(module)
        decided, is_changed = cache(lambda: deciding_ops(module)), False
        for function_op in Module(module).of(Role.FORWARD, Role.BACKWARD).values():
            for group in _groups(function_op, device, devices):
                joined = [op for op in group if op not in decided()] if _pays(group, costs) else []
                if _pays(joined, costs):
                    _join(function_op, joined)
                    is_changed = True
        return is_changed


def _groups(function_op: func.FuncOp, device: str, devices: Devices) -> list[list[ir.Operation]]:
    """Candidates with equal names, types and constants, none of which depends on another."""
    ops = body(function_op)
    keys = {op: key for op in ops if not devices.elsewhere(op) and (key := _key(op, device)) is not None}
    groups: dict[Hashable, list[ir.Operation]] = {}
    depths: dict[ir.Operation, int] = {}
    for op in ops if keys else ():
        depths[op] = max((depths[producer] for producer in operand_ops(op)), default=0) + (op in keys)
        if op in keys:
            groups.setdefault((depths[op], keys[op]), []).append(op)
    return [part for group in groups.values() for part in _in_parts(group)]


def _in_parts(group: list[ir.Operation]) -> list[list[ir.Operation]]:
    """Parts of `_MOST` at most, about equally long."""
    count = -(-len(group) // _MOST)
    bounds = [len(group) * number // count for number in range(count + 1)]
    return [group[start:end] for start, end in pairwise(bounds)]


def _key(op: ir.Operation, device: str) -> Hashable | None:
    """What candidates of one group have in common; None for what is none."""
    if placement_of(op) != "fallback":
        return None
    tensors = [value for value in op.operands if tensor_info(value.type) is not None]
    others = [producer(value) for value in op.operands if tensor_info(value.type) is None]
    if row(op).kind is not Kind.POINTWISE or row(op).is_by_position or len(tensors) != 1 or len(op.results) != 1:
        return None
    constants = [other for other in others if other is not None and other.name.startswith("torch.constant.")]
    if len(constants) != len(others):
        return None
    info, made = require_tensor_info(tensors[0].type), tensor_info(op.results[0].type)
    if made is None or made.shape != info.shape or not info.numel or _is_handed_out(op):
        return None
    if refusal("aten.cat.default", [info, info], device):
        return None
    numbers = tuple(each.get_asm(assume_verified=True).partition("=")[2] for each in constants)
    return aten_name(op), tensors[0].type, op.results[0].type, numbers


def _is_handed_out(op: ir.Operation) -> bool:
    """Whether a result of `op`, or a view of it, leaves the function: it would bring the memory of all others along."""
    return any(user.name in _HANDING_OUT or (is_view(user) and _is_handed_out(user)) for user in users(*op.results))


def _pays(group: list[ir.Operation], costs: CostModel) -> bool:
    """Whether the calls saved cost more than a region that puts the tensors together, which moves their bytes twice."""
    saved = costs.library_call * (len(group) - 1)
    moved = sum(require_tensor_info(op.results[0].type).nbytes for op in group)
    return saved > costs.launch + costs.argument * (len(group) - 1) + 2 * costs.byte * moved


def _join(function_op: func.FuncOp, members: list[ir.Operation]) -> None:
    """Puts one op in the place of the group's last one; what uses the others moves behind it."""
    # As it stands now: joining another group moves what depends on that.
    group = [op for op in body(function_op) if op in set(members)]
    last = group[-1]
    dependent = _dependent_until(function_op, group)
    if any(is_extern(op) for op in dependent):
        return
    position = next(index for index, each in enumerate(last.operands) if tensor_info(each.type) is not None)
    size = require_tensor_info(last.operands[position].type).numel
    with last.location, ir.InsertionPoint(last):
        flat = [_viewed(op.operands[position], (size,)) for op in group]
        tensors = _op(LIST, torch_type("list<vtensor>"), *flat, placement="view")
        joined = _op("torch.aten.cat", with_shape(flat[0].type, (size * len(group),)), tensors, constant(0))
        batch = last.clone()
        batch.operands[position] = joined
        batch.results[0].set_type(with_shape(last.results[0].type, (size * len(group),)))
        for number, op in enumerate(group):
            bounds = map(constant, (0, number * size, (number + 1) * size, 1))
            type_ = with_shape(op.results[0].type, (size,))
            part = _op(SLICE, type_, batch.results[0], *bounds, placement="view")
            op.results[0].replace_all_uses_with(_viewed(part, require_tensor_info(op.results[0].type).shape))
    for op in dependent:
        op.move_before(last)
    for op in group:
        op.erase()


def _dependent_until(function_op: func.FuncOp, group: list[ir.Operation]) -> list[ir.Operation]:
    """What depends on the group and stands before its last op, in order."""
    members, reached, found = set(group), set(group[:1]), []
    ops = body(function_op)
    for op in ops[ops.index(group[0]) + 1 : ops.index(group[-1])]:
        if op in members:
            reached.add(op)
        elif any(producer in reached for producer in operand_ops(op)):
            reached.add(op)
            found.append(op)
    return found


def _viewed(value: ir.Value, shape: tuple[int, ...]) -> ir.Value:
    return _op("torch.aten.view", with_shape(value.type, shape), value, integer_list(shape), placement="view")


def _op(name: str, type_: ir.Type, *operands: ir.Value, placement: str = "region") -> ir.Value:
    attributes = {PLACEMENT: ir.StringAttr.get(placement)}
    return ir.Operation.create(name, results=[type_], operands=list(operands), attributes=attributes).result

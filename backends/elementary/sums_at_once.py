"""Adds up columns in one loop where IREE would make several, which read the same tensors or what one of them stored."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func, linalg, tensor

from dovetail.backends.elementary.column_sums import is_large, reduces_columns
from dovetail.backends.elementary.loop import element_type, from_builtin, iterators, to_builtin
from dovetail.backends.elementary.row_sums import listed_dims
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import body, operand_ops
from dovetail.dialects.torch_facts.types import require_shaped_info, tensor_info

_SUM = "torch.aten.sum.dim_IntList"


def add_up_at_once(function: func.FuncOp) -> None:
    """Makes one loop of sums of the same columns of float32, if they follow from a large tensor that all of them take.

    The gradients of a batch norm's weight and bias are such. IREE adds up each number in the order that it did.
    """
    while sums := _joinable(body(function)):
        _join(sums, body(function))


def _joinable(ops: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The first sums among `ops` that are to be one loop; none if there are no more."""
    alike: dict[tuple[ir.Type | int, ...], list[ir.Operation]] = {}
    for op in filter(_adds_up, ops):
        alike.setdefault((op.operands[0].type, op.results[0].type, *listed_dims(op)), []).append(op)
    return next((sums for each in alike.values() if (sums := _together(each))), [])


def _together(alike: Sequence[ir.Operation]) -> list[ir.Operation]:
    """The first of `alike` sums that are of what follows from the same large tensor, and not from one another."""
    computing = {op: _computing(op) for op in alike}
    taken = {op: {value for each in (op, *computing[op]) for value in each.operands if is_large(value)} for op in alike}
    for position, first in enumerate(alike):
        sums, common = [first], taken[first]
        for op in alike[position + 1 :]:
            follows = any(op in computing[each] or each in computing[op] for each in sums)
            if not follows and not common.isdisjoint(taken[op]):
                sums.append(op)
                common = common & taken[op]
        if len(sums) > 1:
            return sums
    return []


def _computing(op: ir.Operation) -> set[ir.Operation]:
    """The ops that compute what `op` takes."""
    return set(reachable(operand_ops(op), operand_ops))


def _adds_up(op: ir.Operation) -> bool:
    """Whether `op` adds up columns of a large tensor of float32, whose dimensions the result has not."""
    if op.name != _SUM or not reduces_columns(op) or not is_large(op.operands[0]):
        return False
    source, result = tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
    if source is None or result is None or (source.dtype, result.dtype) != ("float32", "float32"):
        return False
    return len(result.shape) + len(listed_dims(op)) == len(source.shape)


def _join(sums: Sequence[ir.Operation], ops: Sequence[ir.Operation]) -> None:
    """Has one loop stand for `sums`, where the first of them stands; what computes the others' terms goes before it."""
    first, computing = sums[0], set().union(*map(_computing, sums))
    for op in ops[ops.index(first) + 1 :]:
        if op in computing:
            op.move_before(first)
    with first.location, ir.InsertionPoint(first):
        for op, made in zip(sums, _totals(sums), strict=True):
            op.results[0].replace_all_uses_with(from_builtin(made, op.results[0].type))
    for op in sums:
        op.erase()


def _totals(sums: Sequence[ir.Operation]) -> Sequence[ir.Value]:
    info, dims = require_shaped_info(sums[0].operands[0].type), listed_dims(sums[0])
    element, kept = element_type(info), [dim for dim in range(len(info.shape)) if dim not in dims]
    zero = arith.ConstantOp(element, ir.FloatAttr.get(element, 0.0)).result
    sizes = [size for dim in kept if (size := info.shape[dim]) is not None]
    totals = [linalg.fill(zero, outs=[tensor.empty(sizes, element)]) for _ in sums]
    identity = ir.AffineMap.get_identity(len(info.shape))
    maps = [identity] * len(sums) + [identity.get_submap(kept)] * len(sums)
    made = linalg.GenericOp(
        [each.type for each in totals],
        [to_builtin(op.operands[0]) for op in sums],
        totals,
        ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
        iterators(["reduction" if dim in dims else "parallel" for dim in range(len(info.shape))]),
    )
    block = made.regions[0].blocks.append(*[element] * len(maps))
    with ir.InsertionPoint(block):
        terms, so_far = block.arguments[: len(sums)], block.arguments[len(sums) :]
        linalg.YieldOp([arith.AddFOp(each, term).result for each, term in zip(so_far, terms, strict=True)])
    return list(made.results)

"""A choice of one tensor from itself, in a form that no canonicalization takes for the smaller tensor."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.numbers import uniform
from dovetail.dialects.torch_facts.types import require_shaped_info, torch_type

_CHOICE = "torch.aten.where.self"


def keep_choices(main: func.FuncOp) -> None:
    """Expands what a choice in `main` takes twice: torch-mlir folds `where(c, x, x)` to `x`, however many `c` has.

    So a region whose result is such a choice would write as much of it as `x` has elements. Of two constants, which
    torch-mlir may find equal once it has computed them, the first is expanded, and the choice stays.
    """
    for op in [op for op in body(main) if op.name == _CHOICE]:
        condition, value, other = op.operands
        result = op.results[0]
        if value.type == result.type or value.type != other.type:
            continue
        is_same = _is_same(value, other)
        if not is_same and not _may_turn_out_equal(value, other):
            continue
        with op.location, ir.InsertionPoint(op):
            expanded = _expanded(condition, value, result.type)
        if not is_same:
            op.operands[1] = expanded
            continue
        result.replace_all_uses_with(expanded)
        op.erase()


def _is_same(one: ir.Value, other: ir.Value) -> bool:
    """Whether two values are one, or computed alike: IREE's compiler makes one of those."""
    pending, seen = [(one, other)], set[tuple[ir.Value, ir.Value]]()
    while pending:
        pair = left, right = pending.pop()
        if left == right or pair in seen:
            continue
        seen.add(pair)
        if isinstance(left.owner, ir.Block) or isinstance(right.owner, ir.Block) or left.type != right.type:
            return False
        ops = left.owner, right.owner
        if len({(op.name, len(op.operands), len(op.results)) for op in ops}) > 1 or len(left.owner.results) > 1:
            return False
        if _facts(ops[0]) != _facts(ops[1]):
            return False
        pending += zip(*(op.operands for op in ops), strict=True)
    return True


def _may_turn_out_equal(one: ir.Value, other: ir.Value) -> bool:
    """Whether two values are known of the region alone, and not filled with different numbers."""
    numbers = [uniform(value) for value in (one, other)]
    return (None in numbers or numbers[0] == numbers[1]) and all(map(_is_constant, (one, other)))


def _is_constant(value: ir.Value) -> bool:
    """Whether no argument decides `value`."""
    pending, seen = [value], {value}
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, ir.Block):
            return False
        pending += (added := set(owner.operands) - seen)
        seen |= added
    return True


def _facts(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _expanded(condition: ir.Value, value: ir.Value, result: ir.Type) -> ir.Value:
    """`value` as large as `result`."""
    wanted, chosen = require_shaped_info(result).shape, require_shaped_info(condition.type).shape
    added = len(wanted) - len(chosen)
    sizes = []
    for dim, (size, beside) in enumerate(zip(wanted, (1,) * added + chosen, strict=True)):
        if size is not None or beside is not None:  # -1: as `value` has it
            sizes.append(_constant(-1 if size is None else size))
        else:
            sizes.append(_create("torch.aten.size.int", "int", [condition, _constant(dim - added)]))
    listed = _create("torch.prim.ListConstruct", "list<int>", sizes)
    implicit = _create("torch.constant.bool", "bool", [], value=ir.BoolAttr.get(False))
    return ir.Operation.create("torch.aten.expand", [result], [value, listed, implicit]).result


def _constant(number: int) -> ir.Value:
    return _create("torch.constant.int", "int", [], value=i64(number))


def _create(name: str, type_: str, operands: list[ir.Value], **attributes: ir.Attribute) -> ir.Value:
    return ir.Operation.create(name, [torch_type(type_)], operands, attributes=attributes).result

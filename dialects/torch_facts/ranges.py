"""Between which whole numbers the elements of a tensor surely lie, whoever wrote the IR.

Regions gather without a check, so this decides what they may gather. Of what is computed it knows only what it has a
rule for: a quotient by 0, a shift by the width, or NaN as a whole number is to LLVM any number, and another one each
time, before a clamp and behind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.scalar_types import SCALAR_TYPES
from dovetail.dialects.torch_facts.types import shaped_info, tensor_info

_BITS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
"""Of the element types of whole numbers, without bytes, which regions take for signed ones here and there."""


@dataclass(frozen=True)
class Range:
    """The whole numbers from `least` to `most`."""

    least: int
    most: int

    def holds(self, other: "Range") -> bool:
        """Whether all of `other` lie within."""
        return self.least <= other.least and other.most <= self.most

    def times(self, factor: int) -> "Range":
        ends = self.least * factor, self.most * factor
        return Range(min(ends), max(ends))

    def plus(self, other: "Range") -> "Range":
        return Range(self.least + other.least, self.most + other.most)


_Rule = Callable[[ir.Operation, Mapping[ir.Value, Range | None]], Range | None]
_TRUTH = Range(0, 1)


def range_of(value: ir.Value) -> Range | None:
    """Where the elements of a tensor, or a number, lie; None where it is no whole one, or nothing is known."""
    known: dict[ir.Value, Range | None] = {}
    pending = [value]
    while pending:
        made = producer(pending[-1])
        rule = _RULES.get(made.name) if made is not None else None
        before = [each for each in made.operands if each not in known] if made is not None and rule is not None else []
        if before:
            pending += before
            continue
        last = pending.pop()
        known[last] = _of_type(last) if made is None else _computed(made, last, rule, known)
    return known[value]


def shifts_in_range(op: ir.Operation) -> bool:
    """Whether an op that shifts whole numbers surely does so by none, or by less than all of their bits."""
    return _shifts_by(op, range_of(op.operands[1]))


def _computed(
    op: ir.Operation, value: ir.Value, rule: _Rule | None, known: Mapping[ir.Value, Range | None]
) -> Range | None:
    stated = number(value)
    if stated is not None:
        return None if isinstance(stated, bool | float) else Range(stated, stated)
    return rule(op, known) if rule is not None else None


def _of_type(value: ir.Value) -> Range | None:
    """Whatever the element type holds: of an argument, which is memory."""
    info = shaped_info(value.type)
    if info is None or info.dtype not in (*_BITS, "bool"):
        return None
    half = 2 ** (_BITS[info.dtype] - 1) if info.dtype != "bool" else 0
    return Range(-half, half - 1) if half else _TRUTH


def _fitting(op: ir.Operation, found: Range) -> Range | None:
    """`found`, of exact numbers, as the result of `op` holds them: those that are too large become others."""
    whole = _of_type(op.results[0])
    return found if whole is not None and whole.holds(found) else whole


def _has_dtype(op: ir.Operation, position: int) -> bool:
    """Whether an operand names the element type that the result has."""
    info = shaped_info(op.results[0].type)
    return info is not None and number(op.operands[position]) == SCALAR_TYPES.index(info.dtype)


def _whole(op: ir.Operation, known: Mapping[ir.Value, Range | None], *positions: int) -> list[Range]:
    """Where these operands lie, as numbers of the result's type; none of them where one of them is no such number."""
    whole, found = _of_type(op.results[0]), []
    for each in (op.operands[position] for position in positions):
        info, lies = shaped_info(each.type), known[each]
        is_number = info is None or info.dtype in _BITS
        if whole is None or whole == _TRUTH or lies is None or not is_number or not whole.holds(lies):
            return []
        found.append(lies)
    return found


def _arange(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    ends, info = [number(each) for each in list(op.operands)[:3]], tensor_info(op.results[0].type)
    start, end, step = ends
    if info is None or not _has_dtype(op, 3):
        return None
    if not (isinstance(start, int) and isinstance(end, int) and isinstance(step, int) and step):
        return None
    count = -((start - end) // step)
    found = Range(start, start).plus(Range(0, count - 1).times(step))
    whole = _of_type(op.results[0])
    is_sound = count > 0 and info.shape == (count,) and whole is not None and whole.holds(found)
    return found if is_sound else None


def _full(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    found = _whole(op, known, 1)
    return found[0] if found and _has_dtype(op, 2) else None


def _to_copy(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    (source, found), whole = (shaped_info(op.operands[0].type), known[op.operands[0]]), _of_type(op.results[0])
    is_whole = source is not None and source.dtype in _BITS and whole != _TRUTH
    return _fitting(op, found) if is_whole and found is not None and _has_dtype(op, 1) else None


def _sum(sign: int) -> _Rule:
    """Of a sum or a difference, whose last operand multiplies the second."""

    def rule(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
        found, factor = _whole(op, known, 0, 1), number(op.operands[2])
        if not found or not isinstance(factor, int):
            return None
        return _fitting(op, found[0].plus(found[1].times(sign * factor)))

    return rule


def _product(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    found, factor = _whole(op, known, 0, 1), number(op.operands[1])
    return _fitting(op, found[0].times(factor)) if found and isinstance(factor, int) else None


def _clamp(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    found = _whole(op, known, 0, 1, 2)
    if not found:
        return None
    value, least, most = found
    if least.most > most.least:
        return None
    return Range(*(min(max(each, least.least), most.most) for each in (value.least, value.most)))


def _shift(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    value, by = (known[each] for each in op.operands)
    if value is None or by is None or not _shifts_by(op, by):
        return None
    ends = [end >> bits for end in (value.least, value.most) for bits in (by.least, by.most)]
    return Range(min(ends), max(ends))


def _shifts_by(op: ir.Operation, by: Range | None) -> bool:
    infos = [shaped_info(each.type) for each in (*op.operands, *op.results)]
    dtype, *others = [info.dtype if info is not None else "" for info in infos]
    is_alike = dtype in _BITS and all(each == dtype for each in others)
    return is_alike and by is not None and Range(0, _BITS[dtype] - 1).holds(by)


def _choice(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    found = _whole(op, known, 1, 2)
    if not found or known[op.operands[0]] != _TRUTH:
        return None
    return Range(min(each.least for each in found), max(each.most for each in found))


def _truth(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    info = shaped_info(op.results[0].type)
    are_known = all(known[each] is not None for each in op.operands)
    return _TRUTH if are_known and info is not None and info.dtype == "bool" else None


def _shown(op: ir.Operation, known: Mapping[ir.Value, Range | None]) -> Range | None:
    one, other = (shaped_info(each.type) for each in (op.operands[0], op.results[0]))
    is_alike = one is not None and other is not None and one.dtype == other.dtype
    return known[op.operands[0]] if is_alike else None


_COMPARISONS = [f"{name}.{of}" for name in ("eq", "ne", "lt", "le", "gt", "ge") for of in ("Tensor", "Scalar")]
_RULES: dict[str, _Rule] = {
    f"torch.aten.{name}": rule
    for name, rule in {
        "arange.start_step": _arange,
        "full": _full,
        "_to_copy": _to_copy,
        "add.Tensor": _sum(1),
        "add.Scalar": _sum(1),
        "sub.Tensor": _sum(-1),
        "mul.Scalar": _product,
        "clamp": _clamp,
        "bitwise_right_shift.Tensor": _shift,
        **dict.fromkeys(("where.self", "where.ScalarOther", "where.ScalarSelf"), _choice),
        **dict.fromkeys((*_COMPARISONS, "logical_and", "logical_or"), _truth),
        **dict.fromkeys(("reshape", "expand"), _shown),
    }.items()
}
"""By op, between which numbers its results lie, of where its operands do: of what `lay-out-convolutions` builds."""

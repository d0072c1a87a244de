"""What is said of open numbers, in the form that its readers rely on: MLIR itself does not look at it."""

from collections.abc import Iterator, Mapping, Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import HINTS, RANGE, SIZES, STRIDES, SYMBOL
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.reading import Module, Role, argument_facts, attribute, result_facts, role
from dovetail.dialects.sizes.size_expressions import is_sound
from dovetail.dialects.sizes.symbols import used_symbols
from dovetail.dialects.torch_facts.sizes import OpenSize
from dovetail.dialects.torch_facts.types import is_torch_type, shaped_info

Broken = tuple[ir.OpView | ir.Operation, str]
_SOUND = "sums, products, and quotients and remainders by more than 0, rounded down"


def broken_facts(found: Module) -> Iterator[Broken]:
    """The ops of the module that say what can't be of open numbers, each with what is wrong, in a verifier's words."""
    hints = attribute(found.operation, HINTS)
    if hints is not None and not isinstance(hints, ir.DenseI64ArrayAttr):
        yield found.operation, f"expects '{HINTS}' to be an array of numbers, got {hints}"
    for name, function_op in found.functions.items():
        yield from _broken_signature(function_op)
        for op in found.bodies[name]:
            attributes = op.attributes
            if SIZES in attributes or SYMBOL in attributes:
                yield from ((op, message) for message in _broken_op(op))


def _broken_signature(function_op) -> Iterator[Broken]:
    type_ = function_op.type
    arguments, results = argument_facts(function_op), result_facts(function_op)
    for what, types, listed in (("argument", type_.inputs, arguments), ("result", type_.results, results)):
        for number, (of, facts) in enumerate(zip(types, listed, strict=False)):
            for name, expected in _unmet(of, facts):
                yield function_op, f"expects '{name}' of {what} {number} to be {expected}, got {facts[name]}"
                return
    if role(function_op) not in (Role.JOINT, Role.CALL, Role.LAYOUTS):
        return
    known = {facts[SYMBOL].value for facts in arguments if SYMBOL in facts}
    for number, facts in enumerate(arguments):
        unknown = ((name, used_symbols(facts[name]) - known) for name in (SIZES, STRIDES) if name in facts)
        for name, each in ((name, each) for name, numbers in unknown for each in sorted(numbers)):
            yield function_op, f"expects '{name}' of argument {number} by symbols that it takes, got s{each}"


def _broken_op(op: ir.Operation) -> Iterator[str]:
    if SYMBOL in op.attributes:
        types = [result.type for result in op.results]
        if len(types) != 1 or RANGE not in op.attributes:
            yield f"expects one result and '{RANGE}' where it has '{SYMBOL}'"
            return
        for name, expected in _unmet(types[0], {each: op.attributes[each] for each in (SYMBOL, RANGE)}):
            yield f"expects '{name}' to be {expected}, got {op.attributes[name]}"
    if SIZES not in op.attributes:
        return
    listed = op.attributes[SIZES]
    if not isinstance(listed, ir.ArrayAttr) or len(listed) != len(op.results):
        yield f"expects '{SIZES}' to have an entry for each of {len(op.results)} results, got {listed}"
        return
    for value, stated in zip(op.results, listed, strict=True):
        for name, expected in () if isinstance(stated, ir.UnitAttr) else _unmet(value.type, {SIZES: stated}):
            yield f"expects '{name}' of result {value.result_number} to be {expected}, got {stated}"


def _unmet(type_: ir.Type, facts: ir.DictAttr | Mapping[str, ir.Attribute]) -> Iterator[tuple[str, str]]:
    """Of the `facts` of a value, those that can't be: each with what would be."""
    if SYMBOL in facts and not _is_number(type_, facts[SYMBOL]):
        yield SYMBOL, "a number of 64 bits, at least 0, of a '!torch.int'"
    if RANGE in facts and not _is_range(facts[RANGE]):
        yield RANGE, "the least and the largest number"
    if SIZES not in facts and STRIDES not in facts:
        return
    info, strides = (type_.shaped, type_.strides) if isinstance(type_, RefType) else (shaped_info(type_), None)
    for name, what, known in ((SIZES, "size", None if info is None else info.shape), (STRIDES, "stride", strides)):
        if name in facts and (expected := _expected(facts[name], what, type_, known)):
            yield name, expected


def _is_number(type_: ir.Type, stated: ir.Attribute) -> bool:
    is_whole = isinstance(stated, ir.IntegerAttr) and stated.type == ir.IntegerType.get_signless(64, stated.context)
    return is_whole and stated.value >= 0 and is_torch_type(type_, "int")


def _is_range(stated: ir.Attribute) -> bool:
    return isinstance(stated, ir.DenseI64ArrayAttr) and len(stated) == 2 and stated[0] <= stated[1]


def _expected(stated: ir.Attribute, what: str, type_: ir.Type, known: Sequence[OpenSize] | None) -> str:
    """What a map to sizes or strides must be, of which those `known` stand in `type_`, where it is something else."""
    if known is None or not isinstance(stated, ir.AffineMapAttr) or stated.value.n_dims:
        return f"an affine map of symbols, for a tensor's {what}s, of '{type_}'"
    found = list(stated.value.results)
    if len(found) != len(known):
        return f"a map to {len(known)} {what}s, those of '{type_}'"
    if not all(map(is_sound, found)):
        return _SOUND
    said = (each.value if isinstance(each, ir.AffineConstantExpr) else None for each in found)
    if any(own is not None and own != each for own, each in zip(known, said, strict=True)):
        return f"a map to the {what}s that '{type_}' says"
    return ""

"""Symbols: the numbers that a program takes instead of knowing them, and what is known of sizes by them.

`dovetail.symbol` numbers the values that are symbols, the same in all functions of a module; `dovetail.sizes` says by
affine expressions of them what the sizes of a tensor are that its type leaves open. These are facts, for passes: what
runs takes values (decision 46).
"""

from collections.abc import Mapping, Sequence
from math import prod
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import RANGE, SIZES, STRIDES, SYMBOL
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.reading import argument_facts, arguments, attribute, body, fact_of, producer
from dovetail.dialects.sizes.size_expressions import materialise, used_symbols_of
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC, CONVERSIONS
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.sizes import OpenSize
from dovetail.dialects.torch_facts.types import is_number, is_open_type, require_shaped_info, shaped_info, tensor_info

_FACTS = (SYMBOL, RANGE, SIZES, STRIDES)

KnownSize: TypeAlias = int | ir.AffineExpr
"""A size as far as a module tells it: a number, or an expression of symbols where its type leaves it open."""


def symbols(function_op: func.FuncOp) -> dict[int, ir.Value]:
    """The function's arguments that are symbols, by the symbol's number."""
    taken = zip(arguments(function_op), argument_facts(function_op), strict=True)
    return {ir.IntegerAttr(facts[SYMBOL]).value: value for value, facts in taken if SYMBOL in facts}


def all_symbols(function_op: func.FuncOp) -> dict[int, ir.Value]:
    """Like `symbols`, with the numbers that ops of the function make which only data tells."""
    made = (op for op in body(function_op) if SYMBOL in op.attributes)
    return symbols(function_op) | {ir.IntegerAttr(op.attributes[SYMBOL]).value: op.results[0] for op in made}


def sizes_map(sizes: Sequence[KnownSize]) -> ir.AffineMapAttr:
    """`dovetail.sizes` of a tensor of these `sizes`."""
    said = [ir.AffineExpr.get_constant(size) if isinstance(size, int) else size for size in sizes]
    count = max((symbol + 1 for size in said for symbol in used_symbols_of(size)), default=0)
    return ir.AffineMapAttr.get(ir.AffineMap.get(0, count, said))


def sizes_of(value: ir.Value) -> tuple[ir.AffineExpr, ...] | None:
    """What is known of the sizes of a tensor with open ones, None where nothing is."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        stated = fact_of(value, SIZES)
    else:
        listed = attribute(owner, SIZES)
        stated = None if listed is None else ir.ArrayAttr(listed)[ir.OpResult(value).result_number]
    return tuple(stated.value.results) if isinstance(stated, ir.AffineMapAttr) else None


def known_sizes(value: ir.Value) -> tuple[KnownSize, ...] | None:
    """The sizes of a tensor, or of one that a ref shows: numbers, or what is known of them; None where nothing is."""
    info = value.type.shaped if isinstance(value.type, RefType) else require_shaped_info(value.type)
    stated = sizes_of(value)
    if stated is None and not info.is_static:
        return None
    return tuple((stated or ())[dim] if size is None else size for dim, size in enumerate(info.shape))


def in_types(sizes: Sequence[KnownSize]) -> tuple[OpenSize, ...]:
    """`sizes` as a tensor's type says them."""
    return tuple(size if isinstance(size, int) else None for size in sizes)


def state_sizes(made: ir.Value, like: ir.Value) -> ir.Value:
    """Says of `made`, the one result of an op, the sizes that are known of `like`; returns it."""
    sizes = sizes_of(like)
    if sizes is not None:
        made.owner.attributes[SIZES] = ir.ArrayAttr.get([sizes_map(sizes)])
    return made


def is_open_op(op: ir.Operation) -> bool:
    """Whether numbers that `op` takes, or sizes of what it takes or makes, are known only when the program runs."""
    return any(is_open_type(result.type) for result in op.results) or any(map(_is_open_operand, op.operands))


def _is_open_operand(value: ir.Value) -> bool:
    info = shaped_info(value.type)
    return is_open_number(value) if info is None else not info.is_static


def is_open_number(value: ir.Value) -> bool:
    """Whether `value` is a number that is known only when the program runs, or a list in which one is."""
    made = producer(value)
    if made is None or not (made.name == LIST or made.name in ARITHMETIC or made.name in CONVERSIONS):
        return (made is None or not made.name.startswith("torch.constant.")) and is_number(value.type)
    return any(map(is_open_number, made.operands))


def elements(value: ir.Value) -> ir.AffineExpr | int | None:
    """How many elements a tensor has, equal for values that surely have as many; None where it is not known."""
    info, sizes = tensor_info(value.type), sizes_of(value)
    if info is not None:
        return info.numel
    return None if sizes is None else prod(sizes[1:], start=sizes[0])


def facts_of(value: ir.Value) -> dict[str, ir.Attribute]:
    """What stands on an argument of another function that takes `value`: which symbol it is, or its sizes."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        stated = {name: fact_of(value, name) for name in _FACTS}
        return {name: fact for name, fact in stated.items() if fact is not None}
    if SYMBOL in owner.attributes:
        return {name: owner.attributes[name] for name in (SYMBOL, RANGE)}
    sizes = sizes_of(value)
    return {} if sizes is None else {SIZES: sizes_map(sizes)}


def used_symbols(stated: ir.Attribute) -> set[int]:
    """The numbers of the symbols in an attribute: in a map, or in maps in a list."""
    if isinstance(stated, ir.ArrayAttr):
        return {symbol for each in stated for symbol in used_symbols(each)}
    sizes = stated.value.results if isinstance(stated, ir.AffineMapAttr) else ()
    return {symbol for size in sizes for symbol in used_symbols_of(size)}


def open_numbers(value: ir.Value) -> list[ir.Value]:
    """Builds the sizes of a tensor that its type leaves open, by the symbols of the function that the builder is in.

    Raises:
        KeyError: for sizes of which too little is known.
    """
    shape, stated = require_shaped_info(value.type).shape, sizes_of(value)
    if None not in shape:
        return []
    if stated is None:
        raise KeyError(f"nothing is known of the sizes of '{value.type}'")
    function_op = ir.InsertionPoint.current.block.owner
    known = symbols(function_op.opview)
    return [materialise(size, known) for dim, size in enumerate(stated) if shape[dim] is None]


def row_major_numbers(value: ir.Value, known: Mapping[int, ir.Value]) -> list[ir.Value | int]:
    """The strides of the row-major layout of `value`: numbers, or values built by the values of the symbols.

    Raises:
        KeyError: for sizes of which too little is known.
    """
    stated = sizes_of(value)
    shape = require_shaped_info(value.type).shape
    found: list[ir.Value | int] = []
    for dim in range(len(shape)):
        inner = shape[dim + 1 :]
        sizes = [size for size in inner if size is not None]
        if len(sizes) == len(inner):
            found.append(prod(max(size, 1) for size in sizes))
        elif stated is None:
            raise KeyError(f"nothing is known of the sizes of '{value.type}'")
        else:
            found.append(materialise(prod(stated[dim + 2 :], start=stated[dim + 1]), known))
    return found

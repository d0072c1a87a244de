"""Library calls that are given memory for their results."""

from collections.abc import Iterator
from functools import cmp_to_key

from torch_mlir import ir

from dovetail.dialects.attributes import EFFECT, STRIDES
from dovetail.dialects.dovetail.ops.part import PartOp, part
from dovetail.dialects.memory.contents import load
from dovetail.dialects.reading import COMPUTING, Module, body, copy_attributes, producer, users
from dovetail.dialects.sizes.size_expressions import materialise, used_symbols_of
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes, state_sizes, symbols
from dovetail.dialects.statements.calls import extern, is_extern, is_fallback, reason, written
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind
from dovetail.dialects.torch_facts.out_overloads import out_overload
from dovetail.dialects.torch_facts.types import value_type


def library_calls(module: ir.Module, name: str) -> Iterator[tuple[ir.Operation, set[int]]]:
    """The calls of the ATen overload `name`, each with the symbols that its function knows."""
    for function_op in Module(module).of(*COMPUTING).values():
        known = set(symbols(function_op))
        for op in body(function_op):
            if is_extern(op) and aten_name(op) == name:
                yield op, known


def can_write(value: ir.Value) -> bool:
    """Whether a pointwise library call gives `value`, used once, and can write it elsewhere as well."""
    op = producer(value)
    if op is None or not is_extern(op) or kind(op) is not Kind.POINTWISE or STRIDES in op.attributes:
        return False
    name = aten_name(op)
    return len(list(value.uses)) == 1 and name is not None and out_overload(name) is not None


def sizes_by(value: ir.Value, known: set[int]) -> tuple[KnownSize, ...] | None:
    """The sizes of `value`, None where the symbols that are `known` do not say them."""
    sizes = known_sizes(value)
    is_said = sizes is not None and all(isinstance(size, int) or used_symbols_of(size) <= known for size in sizes)
    return sizes if is_said else None


def give_part(value: ir.Value, memory: ir.Value, dim: int, start: KnownSize, step: int = 1) -> None:
    """Has the library call that gives `value` write it to a part of `memory`, from `start` on along `dim`."""
    op = value.owner.operation
    length = (known_sizes(value) or ())[dim]
    with op.location, ir.InsertionPoint(op):
        known = symbols(op.parent.opview)
        numbers = [materialise(each, known) for each in (start, length) if not isinstance(each, int)]
        made = part(memory, dim, start if isinstance(start, int) else None, value.type, numbers, step).part
        state_sizes(made, value)
    give(op, made)


def give(op: ir.Operation, memory: ir.Value) -> ir.Value:
    """Has the library call `op` write its result to `memory`; gives that result."""
    with op.location, ir.InsertionPoint(op):
        made = extern(aten_name(op) or "", reason(op), [*op.operands, memory], [], is_fallback(op))
        copy_attributes(op, made, EFFECT)
        value = state_sizes(load(memory), op.results[0])
    op.results[0].replace_all_uses_with(value)
    op.erase()
    return value


def take_back(memory: ir.Value, held: ir.Value | None) -> None:
    """Has what reads `memory` take values: `held` until a library call is given the memory, which then allocates.

    So do calls that are given parts of it, of which nothing is `held` before. Calls of regions keep the memory.
    """
    for user in sorted(users(memory), key=cmp_to_key(_order)):
        if user.name == LOAD and held is not None:
            user.results[0].replace_all_uses_with(held)
            user.erase()
        elif user.name == PartOp.OPERATION_NAME:
            take_back(user.results[0], None)
            user.erase()
        elif is_extern(user) and written(user) == memory:
            held = _allocating(user, memory)


def _order(one: ir.Operation, other: ir.Operation) -> int:
    return -1 if one.is_before_in_block(other) else 1


def _allocating(op: ir.Operation, memory: ir.Value) -> ir.Value:
    """Has the library call `op`, which is given `memory`, allocate its result; gives that."""
    with op.location, ir.InsertionPoint(op):
        type_ = value_type(memory.type)
        made = extern(aten_name(op) or "", reason(op), list(op.operands)[:-1], [type_], is_fallback(op))
    copy_attributes(op, made, EFFECT)
    op.erase()
    return state_sizes(made.result, memory)

"""Rules that rewrite ops: one forward walk offers each op to the rule for its name; and what rules build with."""

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE, SIZES
from dovetail.dialects.reading import Module, copy_attributes, is_used
from dovetail.dialects.sizes.symbols import sizes_of
from dovetail.dialects.statements.devices import Devices
from dovetail.dialects.statements.recompute import SAVED_POLICIES, recompute_policy
from dovetail.dialects.torch_facts.sizes import static
from dovetail.dialects.torch_facts.types import is_memory_type, is_value_type, require_tensor_info, shaped_info

Rule = Callable[[ir.Operation], ir.Value | None]
"""Takes an op of one result; gives the value that stands for the result, built before the op or there already, or None.

A rule erases nothing and changes no other op.
"""


def apply_rules(module: ir.Module, rules: Mapping[str, Rule], takes_open: bool = False) -> bool:
    """Replaces each op of the functions' bodies by what the rule for its name gives, and erases it.

    In order, so that a rule sees operands that are final; what it builds is not offered again. An op on tensors of open
    sizes stays, unless the rules take them: these ask `is_alike`, since equal types may have other sizes. So does one
    that the user's checkpointing wants saved: what stands for it may be there already, with a policy of its own; what
    else it wants of an op, and what is known of the op's sizes, holds for what is built in its place. And so does one
    whose stand-in lies on another device. Returns whether a rule gave anything.
    """
    devices, is_changed = Devices(module), False
    for ops in Module(module).bodies.values():
        for op in ops:
            rule = rules.get(op.name)
            if rule is None or not (takes_open or all(map(_has_known_sizes, (*op.operands, *op.results)))):
                continue
            if recompute_policy(op) in SAVED_POLICIES:
                continue
            with ir.InsertionPoint(op), op.location:
                value = rule(op)
            is_changed |= value is not None
            if value is None or devices.of(value) != devices.of(op.results[0]):
                continue
            if not is_used(value):
                copy_attributes(op, value.owner, RECOMPUTE, SIZES)
            op.results[0].replace_all_uses_with(value)
            devices.forget(op)
            op.erase()
    return is_changed


def _has_known_sizes(value: ir.Value) -> bool:
    """Whether `value` is no tensor, or one of known sizes."""
    info = shaped_info(value.type)
    return not (is_value_type(value.type) or is_memory_type(value.type)) if info is None else info.is_static


def create(name: str, operands: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    """Builds an op of one result at the current insertion point and location."""
    return ir.Operation.create(name, results=[result], operands=list(operands)).result


def is_alike(value: ir.Value, other: ir.Value) -> bool:
    """Whether tensors surely have the same type and sizes: of open ones, equal expressions."""
    if value.type != other.type:
        return False
    info = shaped_info(value.type)
    if info is None or info.is_static or value == other:
        return True
    sizes = sizes_of(value)
    return sizes is not None and sizes == sizes_of(other)


def shape(value: ir.Value) -> tuple[int, ...]:
    """The sizes of a tensor.

    Raises:
        ValueError: for any other value.
    """
    return static(require_tensor_info(value.type).shape)

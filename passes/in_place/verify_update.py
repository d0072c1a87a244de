"""The rules of one update in place, inside of the region that makes it; part of `verify-level`."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body, producer, users
from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.ops import is_constant
from dovetail.dialects.torch_facts.types import require_tensor_info
from dovetail.passes.in_place.cones import is_elementwise
from dovetail.passes.rewriting.cloning import ancestors

Broken = tuple[ir.Operation, str]
"""An op that breaks a rule, and the rule in a verifier's words."""


def broken_update(region: func.FuncOp, memory: ir.Value, proof: str) -> Iterator[Broken]:
    """What breaks a rule where `region` updates `memory`, one of its arguments, by `proof`."""
    using = users(memory)
    loads, stores = ([op for op in using if op.name == name] for name in (LOAD, STORE))
    if len(stores) != 1 or len(loads) != len(using) - 1 or len(loads) > (proof == "pointwise"):
        rule = f"expects memory to update by proof '{proof}' to be overwritten once, and read accordingly"
        yield region.operation, rule
        return
    shape = require_tensor_info(memory.type).shape
    stored = producer(stores[0].operands[0])
    for op in ancestors([] if stored is None else [stored]):
        if not (op.name == LOAD or is_constant(op) or is_elementwise(op, shape)):
            yield op, "is not computed element by element, but updates an argument in place"
    others = _reached(loads) - set(stores)
    for store in body(region) if others else ():
        if store in others:
            yield store, "depends on the old value of an argument that another result takes the place of"


def _reached(loads: list[ir.Operation]) -> set[ir.Operation]:
    """The stores of what depends on one of `loads`."""
    seen, pending = set(loads), list(loads)
    while pending:
        more = set(users(*pending.pop().results)) - seen
        pending.extend(more)
        seen |= more
    return {op for op in seen if op.name == STORE}

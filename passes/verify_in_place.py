"""The rules of updates in place, checked on what stands in a module at level `regions`; part of `verify-level`."""

from collections import Counter
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import is_region, referred
from dovetail.dialects.dovetail import DestinationOp, OwnOp, RefType, WriteOp
from dovetail.dialects.dovetail.ops.destination import IN_PLACE
from dovetail.dialects.torch_ops import is_constant
from dovetail.dialects.torch_types import require_tensor_info
from dovetail.passes.in_place_candidates import Candidates, may_share
from dovetail.passes.in_place_cones import is_elementwise
from dovetail.passes.in_place_regions import LOAD, STORE
from dovetail.passes.rewriting import ancestors, body, functions

Broken = tuple[ir.Operation, str]


def broken_proofs(module: ir.Module) -> Iterator[Broken]:
    """Each op of `module` that is part of an update in place and breaks a rule, with the rule in a verifier's words."""
    found = functions(module)
    if "call" not in found or "forward" not in found:
        return
    host = body(found["forward"])
    proved = [op for op in host if isinstance(op.opview, DestinationOp) and op.opview.proof_name != "none"]
    marked = [op for op in body(found["call"]) if isinstance(op.opview, WriteOp) and IN_PLACE in op.attributes]
    if not proved and not marked:
        return
    yield from _broken_writes(Candidates(module), marked, proved)
    yield from _Destinations(found, host).broken(proved)
    yield from _broken_order(host, proved, found)


def _broken_writes(candidates: Candidates, marked: list[ir.Operation], proved: list[ir.Operation]) -> Iterator[Broken]:
    written: set[ir.Operation] = set()
    for op in marked:
        refusal = candidates.refusal(op.opview)
        if refusal:
            yield op, f"can't be '{IN_PLACE}': {refusal}"
            continue
        argument, own = candidates.in_forward(op.opview)
        made = [owner for memory in _loaded(own.operands[0]) if (owner := _owner(memory)) is not None]
        fits = [each for each in made if each in proved and each.opview.ref == argument]
        if not fits or fits[0].attributes["proof"] != op.attributes[IN_PLACE]:
            yield op, f"expects its value in a 'dovetail.destination' of its argument, proof {op.attributes[IN_PLACE]}"
        written |= set(fits)
    for op in proved:
        if op not in written:
            yield op, f"has a proof, but no write with '{IN_PLACE}' takes what lies in it"


class _Destinations:
    """The rules for each destination; what many of them ask is looked up once."""

    def __init__(self, found: dict[str, func.FuncOp], host: list[ir.Operation]):
        self.found = found
        self.place = {op: index for index, op in enumerate(host)}
        self.last_use: dict[ir.Value, ir.Operation] = {}
        for op in host:
            self.last_use |= {argument: op for operand in op.operands for argument in may_share(operand)}
        self.calls = Counter(referred(op.opview, "callee") for op in host if _is_region_call(op, found))
        self.cones = {name: _cones(found[name]) for name in self.calls}

    def broken(self, proved: list[ir.Operation]) -> Iterator[Broken]:
        for op in proved:
            memory, argument = op.results[0], op.operands[0]
            users = [use.owner.operation for use in memory.uses if use.owner.operation.name != LOAD]
            if len(users) != 1 or not _is_region_call(users[0], self.found):
                yield op, "expects one region to update it"
                continue
            call, name = users[0], referred(users[0].opview, "callee")
            if self.calls[name] != 1:
                yield op, "expects its region to be called once"
            operands = list(call.operands)
            if operands.count(memory) > 1 or any(memory in _loaded(each) for each in operands):
                yield call, "takes an argument's memory to update and once more to read"
            last = self.last_use[argument]
            if self.place[last] >= self.place[call]:
                yield last, "uses an argument's old value when or after it is updated in place"
            inside = self.found[name].body.blocks[0].arguments[operands.index(memory)]
            yield from self._broken_region(inside, name, op.opview.proof_name)

    def _broken_region(self, inside: ir.Value, name: str, proof: str) -> Iterator[Broken]:
        users = [use.owner.operation for use in inside.uses]
        loads, stores = ([op for op in users if op.name == kind] for kind in (LOAD, STORE))
        if len(stores) != 1 or len(loads) != len(users) - 1 or len(loads) > (proof == "pointwise"):
            rule = f"expects memory to update by proof '{proof}' to be overwritten once, and read accordingly"
            yield self.found[name].operation, rule
            return
        shape = require_tensor_info(inside.type).shape
        for op in self.cones[name][stores[0]]:
            if not (op.name == LOAD or is_constant(op) or is_elementwise(op, shape)):
                yield op, "is not computed element by element, but updates an argument in place"
        for store, cone in self.cones[name].items():
            if store != stores[0] and cone & set(loads):
                yield store, "depends on the old value of an argument that another result takes the place of"


def _broken_order(
    host: list[ir.Operation], proved: list[ir.Operation], found: dict[str, func.FuncOp]
) -> Iterator[Broken]:
    """After an update nothing may fail: the arguments would be left as eager never leaves them."""
    destinations = {op.results[0] for op in proved}
    updating = [op for op in host if op.name != LOAD and destinations & set(op.operands)]
    first = host.index(updating[0]) if updating else len(host)
    for op in host[first + 1 : -1]:
        own = op.opview
        is_laid_out = isinstance(own, OwnOp) and own.results[0].type == RefType.of(own.operands[0].type)
        if not (op.name == LOAD or is_laid_out or _is_region_call(op, found)):
            yield op, "may fail after an argument was updated in place"


def _cones(region: func.FuncOp) -> dict[ir.Operation, set[ir.Operation]]:
    """For each store of a region, the ops that compute what it stores."""
    stores = (op for op in body(region) if op.name == STORE)
    return {op: ancestors(owner for owner in [_owner(op.operands[0])] if owner is not None) for op in stores}


def _is_region_call(op: ir.Operation, found: dict[str, func.FuncOp]) -> bool:
    return isinstance(op.opview, func.CallOp) and is_region(found[referred(op.opview, "callee")])


def _loaded(value: ir.Value) -> list[ir.Value]:
    """The memory that `value` was loaded from, if it was."""
    owner = _owner(value)
    return [owner.operands[0]] if owner is not None and owner.name == LOAD else []


def _owner(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation

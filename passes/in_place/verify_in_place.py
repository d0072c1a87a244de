"""The rules of updates in place, checked on what stands in a module at level `regions`; part of `verify-level`."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE
from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.dovetail import DestinationOp, FreeOp, OwnOp, WriteOp
from dovetail.dialects.memory.handed_on import stores_after
from dovetail.dialects.memory.roots import may_show_old
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, Role, arguments, body, made_by, of_class, producer, referred, role, users
from dovetail.dialects.sizes.known_strides import lies_in_rows
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.ops import is_constant
from dovetail.passes.in_place.caller_writes import CallerWrites
from dovetail.passes.in_place.cones import is_elementwise

Functions = Mapping[str, func.FuncOp]
Broken = tuple[ir.Operation, str]
"""An op that breaks a rule, and the rule in a verifier's words."""


def broken_proofs(module: Module) -> Iterator[Broken]:
    """Each op that is part of an update in place and breaks a rule, with the rule in a verifier's words."""
    if Role.CALL not in module or Role.FORWARD not in module:
        return
    # The end of a life computes nothing, and can't fail.
    host = [op for op in module.ops(module.forward) if op.name != FreeOp.OPERATION_NAME]
    proved = [op for op in of_class(host, DestinationOp) if op.opview.proof_name != "none"]
    marked = [op for op in of_class(module.ops(module.call), WriteOp) if IN_PLACE in op.attributes]
    if not proved and not marked:
        return
    yield from _broken_writes(CallerWrites(module), marked, proved)
    yield from _Destinations(module.functions, host).broken(proved)
    yield from _broken_order(host, proved, module.functions)


def _broken_writes(writes: CallerWrites, marked: list[ir.Operation], proved: list[ir.Operation]) -> Iterator[Broken]:
    held = {op.results[0]: op for op in proved}
    written: set[ir.Value | None] = set()
    for op in marked:
        refusal = writes.refusal(op.opview)
        if refusal:
            yield op, f"can't be '{IN_PLACE}': {refusal}"
            continue
        argument, own = writes.in_forward(op.opview)
        memory, proof = _loaded(own.operands[0]), op.attributes[IN_PLACE]
        made = held.get(memory)
        if made is None or made.operands[0] != argument or made.attributes["proof"] != proof:
            yield op, f"expects its value in a '{DestinationOp.OPERATION_NAME}' of its argument, proof {proof}"
        written.add(memory)
    for memory, op in held.items():
        if memory not in written:
            yield op, f"has a proof, but no write with '{IN_PLACE}' takes what lies in it"


class _Destinations:
    """The rules for each destination; what many of them ask is looked up once."""

    def __init__(self, functions: Functions, host: Sequence[ir.Operation]):
        self.functions = functions
        self.position = {op: index for index, op in enumerate(host)}
        self.last_use = {argument: op for op in host for operand in op.operands for argument in may_show_old(operand)}
        called = [op for op in host if _is_region_call(op, functions)]
        self.calls = Counter(referred(op.opview, "callee") for op in called)
        self.operands = {op: list(op.operands) for op in called}
        self.taken = {op: Counter(operands) for op, operands in self.operands.items()}
        self.read = {op: {_loaded(operand) for operand in operands} for op, operands in self.operands.items()}

    def broken(self, proved: list[ir.Operation]) -> Iterator[Broken]:
        for op in proved:
            memory, argument = op.results[0], op.operands[0]
            writers = [user for user in users(memory) if user.name not in (LOAD, FreeOp.OPERATION_NAME)]
            if len(writers) != 1 or writers[0] not in self.operands:
                yield op, "expects one region to update it"
                continue
            call, name = writers[0], referred(writers[0], "callee")
            if self.calls[name] != 1:
                yield op, "expects its region to be called once"
            if self.taken[call][memory] > 1 or memory in self.read[call]:
                yield call, "takes an argument's memory to update and once more to read"
            last = self.last_use[argument]
            if self.position[last] >= self.position[call]:
                yield last, "uses an argument's old value when or after it is updated in place"
            region = self.functions[name]
            inside = arguments(region)[self.operands[call].index(memory)]
            yield from broken_update(region, inside, op.opview.proof_name)


def _broken_order(host: Sequence[ir.Operation], proved: list[ir.Operation], functions: Functions) -> Iterator[Broken]:
    """After an update nothing may fail: the arguments would be left as eager never leaves them."""
    destinations = {op.results[0] for op in proved}
    updates = (index for index, op in enumerate(host) if op.name != LOAD and destinations.intersection(op.operands))
    first = next(updates, len(host))
    for op in host[first + 1 : -1]:
        is_laid_out = op.name == OwnOp.OPERATION_NAME and lies_in_rows(op.results[0])
        if not (op.name == LOAD or is_laid_out or _is_region_call(op, functions)):
            yield op, "may fail after an argument was updated in place"


def _is_region_call(op: ir.Operation, functions: Functions) -> bool:
    return op.name == func.CallOp.OPERATION_NAME and role(functions[referred(op.opview, "callee")]) is Role.REGION


def _loaded(value: ir.Value) -> ir.Value | None:
    """The memory that `value` was loaded from, if it was."""
    load = made_by(value, LOAD)
    return None if load is None else load.operands[0]


def broken_update(region: func.FuncOp, memory: ir.Value, proof: str) -> Iterator[Broken]:
    """What breaks a rule where `region` updates `memory`, one of its arguments, by `proof`."""
    using = users(memory)
    loads, stores = ([op for op in using if op.name == name] for name in (LOAD, STORE))
    if len(stores) != 1 or len(loads) != len(using) - 1 or len(loads) > (proof == "pointwise"):
        rule = f"expects memory to update by proof '{proof}' to be overwritten once, and read accordingly"
        yield region.operation, rule
        return
    sizes = known_sizes(memory)
    stored = producer(stores[0].operands[0])
    for op in ancestors([] if stored is None else [stored]):
        if not (op.name == LOAD or is_constant(op) or is_elementwise(op, sizes)):
            yield op, "is not computed element by element, but updates an argument in place"
    others = _reached(loads, stored) - set(stores)
    for store in body(region) if others else ():
        if store in others:
            yield store, "depends on the old value of an argument that another result takes the place of"
    for store in stores_after(stores[0]) if loads else ():
        if store.operands[0] == stores[0].operands[0] or known_sizes(store.operands[1]) != sizes:
            yield store, "depends on an argument's new value, but not element by element in one loop"


def _reached(loads: list[ir.Operation], computed: ir.Operation | None) -> set[ir.Operation]:
    """The stores of what depends on one of `loads`, but not by way of what is `computed`."""
    onward = reachable(loads, lambda op: () if op == computed else users(*op.results))
    return {op for op in onward if op.name == STORE}

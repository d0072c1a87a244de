"""Which writes of `@call` the region that computes the value could make itself, and why the others can't be."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import AllocOp, OwnOp, RefType, WriteOp
from dovetail.dialects.memory.roots import may_show_old, memory_root
from dovetail.dialects.reading import Module, Role, arguments, made_by, of_class, producer, role, users
from dovetail.dialects.sizes.known_strides import lies_in_rows
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.in_place.caller_writes import CallerWrites


@dataclass(frozen=True, eq=False)
class Update:
    """Memory that a region of updates may write, and where its new value comes from.

    Attributes:
        argument: the memory, in `@forward`.
        own: in `@forward`, hands out the new value.
        call: in `@forward`, of `region`, which computes it.
        position: the argument of the region that takes the new value; `value` is that value inside.
        known_as: the new value in `@forward`.
    """

    argument: ir.Value
    own: ir.Operation
    call: ir.Operation
    region: func.FuncOp
    position: int
    value: ir.Value
    known_as: ir.Value


@dataclass(frozen=True, eq=False)
class Mutation(Update):
    """Of an argument that is mutated, by `write` in `@call`."""

    write: WriteOp


class Beside(Update):
    """Of a result in memory that is allocated for it, made beside such updates."""


class Candidates:
    """What is asked of `@forward` for each write, gathered once; `module` is at level `regions`."""

    def __init__(self, module: Module):
        self.module, self.caller_writes = module, CallerWrites(module)
        host = module.ops(module.forward)
        seen = [value for value in host[-1].operands if not isinstance(value.type, RefType)]
        seen += [op.operands[0] for op in of_class(host, OwnOp)]
        self.seen = {memory_root(value) for value in seen}.union(*map(may_show_old, seen))
        self.region_calls = of_class(host, func.CallOp)
        taken = ((operand, (op, index)) for op in self.region_calls for index, operand in enumerate(op.operands))
        self.writers = {memory: at for memory, at in taken if made_by(memory, AllocOp.OPERATION_NAME)}

    def find(self, write: WriteOp) -> Mutation | str:
        """The update that `write` stores, or the reason why no region can store it."""
        refusal = self.caller_writes.refusal(write)
        if refusal:
            return refusal
        argument, own = self.caller_writes.in_forward(write)
        if argument in self.seen:
            return "its old value is handed out or saved"
        return self._computed(write, argument, own)

    def results(self, updates: Sequence[Mutation]) -> list[Beside]:
        """What the regions of `updates` compute beside them, for the caller alone.

        Not of open sizes, of which it may not be one loop.
        """
        calls = {update.call for update in updates}
        taken = {(update.call, update.position) for update in updates}
        found = []
        for memory, (call, index) in self.writers.items():
            loads = [op for op in users(memory) if op != call]
            if call not in calls or (call, index) in taken or [op.name for op in loads] != [LOAD]:
                continue
            owns = users(*loads[0].results)
            if [op.name for op in owns] == [OwnOp.OPERATION_NAME] and lies_in_rows(owns[0].results[0]):
                region = self.module.callee(call)
                value = users(arguments(region)[index])[0].operands[0]
                if tensor_info(value.type) is not None:
                    found.append(Beside(memory, owns[0], call, region, index, value, loads[0].results[0]))
        return found

    def _computed(self, write: WriteOp, argument: ir.Value, own: ir.Operation) -> Mutation | str:
        value = own.operands[0]
        if not lies_in_rows(own.results[0]):
            return "its new value is laid out anew"
        load = made_by(value, LOAD)
        call, index = (None, 0) if load is None else self.writers.get(load.operands[0], (None, 0))
        region = None if call is None else self.module.callee(call)
        if call is None or region is None or role(region) is not Role.REGION:
            return "its new value is not computed by a region"
        inside = arguments(region)[index]
        stored = users(inside)[0].operands[0]
        computed = producer(stored)
        if computed is not None and is_pinned(computed):
            return "its new value is compared with what comes from it, so it is computed once"
        return Mutation(argument, own, call, region, index, stored, value, write)

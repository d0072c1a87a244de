"""Pass `plan-memory`: where each buffer of a host function dies, and what takes its memory."""

from collections.abc import Mapping

from torch_mlir import ir

from dovetail.dialects.dovetail import AllocOp, FreeOp, ReuseOp
from dovetail.dialects.dovetail.ops.alloc import alloc
from dovetail.dialects.memory.buffer import Buffer, MemoryOrigin
from dovetail.dialects.memory.buffers import Buffers, all_host_buffers
from dovetail.dialects.memory.memory_use import held_bytes, private_arguments
from dovetail.dialects.reading import COMPUTING, Module, Role, body, of_class, role
from dovetail.dialects.statements.devices import Devices
from dovetail.passes.base import Pass
from dovetail.passes.memory.donation import Donors, set_donated
from dovetail.passes.memory.reuse import Scan


class PlanMemoryPass(Pass, name="plan-memory", runs_at="regions"):
    """Says in `@forward`, `@backward` and subgraphs where memory dies, and gives dead memory to later results.

    A buffer is dead when nothing uses it any more, through no view. Dead memory of at least the needed bytes, at most
    twice as many, becomes a result's: best fit, in one scan, where that does not raise the function's peak. What the
    caller gets is in memory of just its own bytes. Private saved values die in `@backward`; those that it writes to
    say `dovetail.donated`. A plan that is there already is made anew. docs/decisions/0020-memory-plan.md has the rest.

    Before:  `%d = alloc; call @r(%x, %d); %v = to_vtensor %d; %w = mm(%v, %v); %e = alloc; call @s(%w, %e); ...`
    After:   `%d = alloc; call @r(%x, %d); %v = to_vtensor %d; %w = mm(%v, %v); %e = reuse %d; call @s(%w, %e); free %w`
    """

    def run(self, module: ir.Module) -> None:
        found = Module(module)
        drop_plan(found)
        buffers = all_host_buffers(found)
        devices = Devices(module)
        donors = next((Donors(buffers[name]).numbers for name in found.of(Role.FORWARD)), frozenset[int]())
        for each in buffers.values():
            is_backward = role(each.function) is Role.BACKWARD
            set_donated(each.function, _plan(each, donors if is_backward else frozenset(), devices))


def drop_plan(module: Module) -> None:
    """Takes out what this pass has put in: all memory is allocated, and lives on until its function returns."""
    for function_op in module.of(*COMPUTING).values():
        for op in of_class(body(function_op), FreeOp, ReuseOp):
            if op.name == FreeOp.OPERATION_NAME:
                op.erase()
            else:
                _replace(op, None)
        set_donated(function_op, frozenset())


def _plan(buffers: Buffers, donors: frozenset[int], devices: Devices) -> frozenset[int]:
    """Plans one function; returns the positions of the arguments whose memory is reused."""
    arguments = private_arguments(buffers)
    elsewhere = {each for each in buffers.all if devices.of(each.root) != devices.home}
    scan = Scan(buffers, held_bytes(buffers), frozenset(arguments[index] for index in donors), elsewhere)
    allocated = [buffers.by_value[op.results[0]] for op in of_class(buffers.ops, AllocOp)]
    taken = {buffer: dead for buffer in allocated if (dead := scan.take(buffer)) is not None}
    _free(buffers, scan.ends, {*taken.values()}, {*arguments.values()})
    for buffer, dead in reversed([*taken.items()]):  # later ones first, for one may take what an earlier one has taken
        _replace(buffer.root.owner.operation, dead.root)
    reused = {*taken.values()}
    return frozenset(index for index, buffer in arguments.items() if buffer in reused)


def _free(buffers: Buffers, ends: Mapping[Buffer, int], reused: set[Buffer], arguments: set[Buffer]) -> None:
    for buffer, end in ends.items():
        is_ours = buffer.origin not in (MemoryOrigin.ARGUMENT, MemoryOrigin.LITERAL) or buffer in arguments
        if is_ours and buffer not in reused:
            with buffers.ops[max(end, 0)].location, ir.InsertionPoint(buffers.ops[end + 1]):
                FreeOp.build([buffer.root])


def _replace(op: ir.Operation, dead: ir.Value | None) -> None:
    """Makes the memory that `op` makes where `dead` is, or anew."""
    type_ = op.results[0].type
    with op.location, ir.InsertionPoint(op):
        made = alloc(type_) if dead is None else ReuseOp.build([dead], [type_])
    op.results[0].replace_all_uses_with(made.memory)
    op.erase()

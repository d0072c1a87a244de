"""Pass `plan-memory`: where each buffer of a host function dies, and what takes its memory."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import SIZES
from dovetail.dialects.dovetail import AllocOp, FreeOp, ReuseOp
from dovetail.dialects.dovetail.ops.alloc import alloc
from dovetail.dialects.dovetail.ops.reuse import reuse
from dovetail.dialects.memory.buffer import Buffer, MemoryOrigin
from dovetail.dialects.memory.buffers import Buffers, all_host_buffers
from dovetail.dialects.memory.memory_use import private_arguments
from dovetail.dialects.reading import COMPUTING, Module, Role, body, copy_attributes, of_class, role, users
from dovetail.dialects.statements.devices import CPU, Devices
from dovetail.passes.base import Pass
from dovetail.passes.memory.donation import Donors, set_donated
from dovetail.passes.memory.lives import Lives
from dovetail.passes.memory.reuse import Scan
from dovetail.passes.memory.shared import find_shared


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
            set_donated(each.function, _plan(each, donors if is_backward else frozenset(), found, devices))


def drop_plan(module: Module) -> None:
    """Takes out what this pass has put in: all memory is allocated, and lives on until its function returns."""
    for function_op in module.of(*COMPUTING).values():
        for op in of_class(body(function_op), FreeOp, ReuseOp):
            if op.name == FreeOp.OPERATION_NAME:
                op.erase()
            else:
                with op.location, ir.InsertionPoint(op):
                    _replace(op, alloc(op.results[0].type, op.opview.numbers))
        set_donated(function_op, frozenset())


def _plan(buffers: Buffers, donors: frozenset[int], module: Module, devices: Devices) -> frozenset[int]:
    """Plans one function; returns the positions of the arguments whose memory is reused."""
    arguments = private_arguments(buffers)
    elsewhere = {each for each in buffers.all if devices.of(each.root) != devices.home}
    lives = Lives(buffers, frozenset(arguments[index] for index in donors), elsewhere)
    shared = find_shared(lives, module) if devices.home == CPU else {}
    scan = Scan(lives, shared)
    allocated = [buffers.by_value[op.results[0]] for op in of_class(buffers.ops, AllocOp)]
    apart = [buffer for buffer in allocated if buffer not in shared]
    taken = {buffer: dead for buffer in apart if (dead := scan.take(buffer)) is not None}
    _free(buffers, lives.ends, {*taken.values()}, {*arguments.values()})
    # Later ones first, for one may take what an earlier one has taken.
    for buffer in reversed(allocated):
        if buffer in shared:
            _share(buffer.root.owner.operation, shared[buffer].root)
        elif buffer in taken:
            op = buffer.root.owner.operation
            with op.location, ir.InsertionPoint(op):
                _replace(op, reuse(taken[buffer].root, op.results[0].type))
    reused = {*taken.values(), *shared.values()}
    return frozenset(index for index, buffer in arguments.items() if buffer in reused)


def _free(buffers: Buffers, ends: Mapping[Buffer, int], reused: set[Buffer], arguments: set[Buffer]) -> None:
    for buffer, end in ends.items():
        is_ours = buffer.origin not in (MemoryOrigin.ARGUMENT, MemoryOrigin.LITERAL) or buffer in arguments
        if is_ours and buffer not in reused:
            with buffers.ops[max(end, 0)].location, ir.InsertionPoint(buffers.ops[end + 1]):
                FreeOp.build([buffer.root])


def _share(op: ir.Operation, dead: ir.Value) -> None:
    """Makes what `op` allocates where `dead` is, just before the region that takes both."""
    call = next(each for each in users(op.results[0]) if each.name == func.CallOp.OPERATION_NAME)
    with op.location, ir.InsertionPoint(call):
        _replace(op, reuse(dead, op.results[0].type, list(op.operands), is_shared=True))


def _replace(op: ir.Operation, made: AllocOp | ReuseOp) -> None:
    copy_attributes(op, made, SIZES)
    op.results[0].replace_all_uses_with(made.memory)
    op.erase()

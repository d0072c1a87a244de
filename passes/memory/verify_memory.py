"""Pass `verify-memory`: nothing is used after its memory died, and nothing is written to memory that is in use."""

from collections import Counter
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DONATED
from dovetail.dialects.dovetail import FreeOp, ReuseOp
from dovetail.dialects.memory.buffer import Buffer, MemoryOrigin
from dovetail.dialects.memory.buffers import Buffers, all_host_buffers
from dovetail.dialects.memory.memory_use import held_bytes, private_arguments
from dovetail.dialects.reading import Module, Role, arguments, role, users
from dovetail.dialects.statements.calls import donated
from dovetail.dialects.statements.devices import CPU, Devices
from dovetail.dialects.torch_facts.types import is_memory
from dovetail.passes.base import Pass, fail
from dovetail.passes.memory.donation import Donors
from dovetail.passes.memory.shared import why_apart

Broken = tuple[ir.Operation, str]


class VerifyMemoryPass(Pass, name="verify-memory", runs_at="regions"):
    """Checks the memory plan that stands in the module, whoever made it. Changes nothing.

    No use of memory after its end, no second end; what is reused is the function's own, dead through every view, and
    large enough; what the caller gets is in memory of just its bytes; a region's result overlaps none of the region's
    other arguments but, on the CPU, what dies there and is read element by element, by a region that is not kept apart;
    and what `@backward` overwrites is held by the program alone.
    """

    def run(self, module: ir.Module) -> bool:
        found = Module(module)
        buffers = all_host_buffers(found)
        donors = next((Donors(buffers[name]) for name in found.of(Role.FORWARD)), None)
        for name, function_op in found.functions.items():
            known = donors if role(function_op) is Role.BACKWARD else None
            for index in donated(function_op):
                reason = known.refusal(index) if known else "only saved values of '@backward' can be"
                if reason:
                    raise fail(function_op, f"'@{name}' has '{DONATED}' on argument {index}, but {reason}")
        devices = Devices(module)
        for each in buffers.values():
            broken = next(_Checker(each, found, devices).broken(), None)
            if broken is not None:
                raise fail(broken[0], broken[1])
        return False


class _Checker:
    """The rules for one function, in the order of its ops."""

    def __init__(self, buffers: Buffers, module: Module, devices: Devices):
        self.buffers, self.module, self.devices = buffers, module, devices
        self.sizes = held_bytes(buffers)
        self.private = set(private_arguments(buffers).values())
        taken = arguments(buffers.function)
        self.donated = {buffers.by_value[taken[index]] for index in donated(buffers.function)}
        self.ended: dict[Buffer, ir.Operation] = {}
        # By what a region overwrites while it reads it, the call.
        self.shared: dict[Buffer, ir.Operation] = {}

    def broken(self) -> Iterator[Broken]:
        """Each op that breaks a rule, with the rule in a verifier's words."""
        for op in self.buffers.ops:
            yield from self._broken_use(op)
            match op.name:
                case FreeOp.OPERATION_NAME:
                    yield from self._broken_free(op)
                    self.ended[self.buffers.by_value[op.operands[0]]] = op
                case ReuseOp.OPERATION_NAME:
                    yield from self._broken_reuse(op)
                    dead = self.buffers.by_value[op.operands[0]]
                    if op.opview.is_shared:
                        yield from self._broken_sharing(op.opview, dead)
                    else:
                        self.ended[dead] = op
                case func.CallOp.OPERATION_NAME:
                    yield from self._broken_call(op)
        yield from self._broken_results(self.buffers.ops[-1])

    def _broken_use(self, op: ir.Operation) -> Iterator[Broken]:
        for buffer in self.buffers.used(op):
            overwrites = self.shared.get(buffer, op)
            if overwrites != op and op.name != FreeOp.OPERATION_NAME:
                yield op, f"uses memory that a region overwrites ({overwrites.location})"
            if buffer in self.ended:
                how = "frees memory a second time, it" if isinstance(op.opview, FreeOp) else "uses memory that"
                yield op, f"{how} died at {self.ended[buffer].location}"

    def _broken_free(self, op: ir.Operation) -> Iterator[Broken]:
        buffer = self.buffers.by_value.get(op.operands[0])
        if buffer is None:
            yield op, f"expects memory to free, got a value of type '{op.operands[0].type}'"
        elif buffer.origin in (MemoryOrigin.ARGUMENT, MemoryOrigin.LITERAL) and buffer not in self.private:
            yield op, f"frees memory of {buffer.origin.value}, which others hold"

    def _broken_reuse(self, op: ir.Operation) -> Iterator[Broken]:
        dead, made = self.buffers.by_value[op.operands[0]], self.buffers.by_value[op.results[0]]
        if op.operands[0] != dead.root:
            yield op, "reuses a view, expected the memory that it lies in"
        if dead.origin not in (MemoryOrigin.ALLOCATED, MemoryOrigin.EXACT) and dead not in self.donated:
            what = dead.origin.value if dead.origin is not MemoryOrigin.OTHER else f"'{dead.maker}'"
            yield op, f"reuses memory of {what}, expected that of an alloc, of a library kernel, or a donated argument"
        if self.devices.of(dead.root) != self.devices.of(made.root):
            yield op, f"reuses memory on {self.devices.of(dead.root)}, expected {self.devices.of(made.root)}"
        if dead.kept_by is not None:
            yield op, f"reuses memory that '{dead.keeper}' may keep ({dead.kept_by.location})"
        for view in dead.views:
            if view.start < made.start and view not in self.ended:
                yield op, f"reuses memory in which the result of '{view.maker}' may still lie ({view.root.location})"
        has = self.sizes.get(dead, 0)
        if has < made.nbytes:
            yield op, f"makes {made.nbytes} bytes of memory out of {has}"
        self.sizes[made] = has

    def _broken_sharing(self, op: ReuseOp, dead: Buffer) -> Iterator[Broken]:
        if self.devices.home != CPU:
            yield op, f"shares memory with a result on {self.devices.home}, expected a program for the CPU"
            return
        calls = [each for each in users(op.memory) if each.name == func.CallOp.OPERATION_NAME]
        values = list(calls[0].operands) if calls else []
        takes = [index for index, value in enumerate(values) if self.buffers.by_value.get(value) is dead]
        if len(calls) != 1 or len(takes) != 1:
            yield op, "shares memory with a result, expected one region that takes both"
            return
        (self.shared[dead],) = calls
        why = why_apart(self.buffers, calls[0], takes[0], values.index(op.memory), self.module)
        if why:
            yield op, f"shares memory with a result, but {why}"

    def _broken_call(self, op: ir.Operation) -> Iterator[Broken]:
        """IREE is not alias safe: docs/iree-region-abi.md."""
        used = [(value, self.buffers.by_value[value]) for value in op.operands if value in self.buffers.by_value]
        takers = Counter(each for _, buffer in used for each in buffer.may_be)
        for index, (value, buffer) in enumerate(used):
            if is_memory(value) and any(takers[memory] > 1 for memory in buffer.may_be):
                yield op, f"is given memory to overwrite (argument {index}) that another argument may lie in"

    def _broken_results(self, terminator: ir.Operation) -> Iterator[Broken]:
        for buffer in {each for one in self.buffers.used(terminator) for each in one.may_be}:
            has = self.sizes.get(buffer, 0)
            if buffer.origin is MemoryOrigin.ALLOCATED and has != buffer.nbytes:
                yield terminator, f"hands out {buffer.nbytes} bytes in memory of {has}, expected memory of its own size"

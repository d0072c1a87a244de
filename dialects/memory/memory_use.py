"""What the host functions hold of memory while they run, read from a module at level `regions`.

Counted is what the program itself allocates: destinations, results of library calls, copies, and in `@backward` the
private saved values that it starts with. Where it depends on strides whether an op copies, it counts as a copy.
Arguments, results of other programs, and what a kernel needs inside are not counted. Bytes are those of the elements.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FOR_REPLAY, FORWARD, STATIC
from dovetail.dialects.dovetail import AllocOp, FreeOp, ReuseOp
from dovetail.dialects.memory.buffer import Buffer
from dovetail.dialects.memory.buffers import Buffers, all_host_buffers
from dovetail.dialects.reading import Module, Role, argument_facts, arguments, forward_of, referred, role
from dovetail.dialects.sizes.expected import expected_bytes, expected_ref_bytes
from dovetail.dialects.statements.calls import returned_saved, saved_kinds
from dovetail.dialects.torch_facts.types import tensor_info


@dataclass(frozen=True)
class MemoryUse:
    """What one function holds.

    Attributes:
        ops: the function's operations; `live` is how many bytes are held when each has run.
        allocated: bytes that its `alloc`s take, `allocations` of them.
        reused: bytes that lie in dead memory instead, by `reuses`.
        saved: bytes of the private values that it saves for the backward, or was saved.
    """

    ops: list[ir.Operation]
    live: list[int]
    allocated: int
    reused: int
    allocations: int
    reuses: int
    saved: int

    @property
    def peak(self) -> int:
        return max(self.live)


def private_arguments(buffers: Buffers) -> dict[int, Buffer]:
    """By position, the arguments that die in a function: the private saved values of a backward."""
    forward = forward_of(buffers.function)
    kinds = [] if forward is None else saved_kinds(forward)
    taken = [buffers.by_value.get(each) for each in arguments(buffers.function)[: len(kinds)]]  # numbers have no memory
    pairs = enumerate(zip(kinds, taken, strict=True))
    return {position: buffer for position, (kind, buffer) in pairs if kind == "private" and buffer is not None}


def held_bytes(buffers: Buffers) -> dict[Buffer, int]:
    """Bytes of each buffer that the function is the one to hold."""
    infos = {buffer: tensor_info(buffer.root.type) for buffer in private_arguments(buffers).values()}
    held = {buffer: buffer.nbytes for buffer in buffers.all if buffer.nbytes}
    return held | {buffer: info.nbytes for buffer, info in infos.items() if info is not None}


def live_bytes(buffers: Buffers, held: Mapping[Buffer, int], ends: Mapping[Buffer, int]) -> np.ndarray:
    """Bytes held when each op has run, where a buffer that `ends` with an op is gone by then."""
    changes = np.zeros(len(buffers.ops) + 1, dtype=np.int64)
    for buffer, nbytes in held.items():
        changes[max(buffer.start, 0)] += nbytes
        changes[ends.get(buffer, -1)] -= nbytes
    return np.cumsum(changes[:-1])


def memory_use(module: ir.Module) -> dict[str, MemoryUse]:
    """What each host function holds, by symbol."""
    found = Module(module)
    saved = sum(map(saved_bytes, found.of(Role.FORWARD).values()))
    buffers = all_host_buffers(found).items()
    return {name: _use(each, 0 if role(each.function) is Role.SUBGRAPH else saved) for name, each in buffers}


def memory_remarks(module: ir.Module) -> Iterator[str]:
    """For each host function: a location, what it allocates, and the most that it holds at a time."""
    for name, use in memory_use(module).items():
        where = use.ops[use.live.index(use.peak)].location
        yield (
            f"{use.ops[0].location}: remark: @{name} allocates {use.allocated} bytes in {use.allocations} blocks,"
            f" {use.reused} more bytes lie in {use.reuses} reused ones; {use.saved} are saved between forward and"
            f" backward; at most {use.peak} are held, at {where}"
        )


def _use(buffers: Buffers, saved: int) -> MemoryUse:
    held, ends = held_bytes(buffers), dict[Buffer, int]()
    allocated, reused = [], []
    for index, op in enumerate(buffers.ops):
        if op.name == AllocOp.OPERATION_NAME:
            allocated.append(buffers.by_value[op.results[0]].nbytes)
        elif op.name in (FreeOp.OPERATION_NAME, ReuseOp.OPERATION_NAME):
            dead = buffers.by_value[op.operands[0]]
            ends.setdefault(dead, index)  # what was shared with a region's result is freed besides
            for result in op.results:
                reused.append(buffers.by_value[result].nbytes)
                held[buffers.by_value[result]] = held.get(dead, 0)
    live = live_bytes(buffers, held, ends).tolist()
    return MemoryUse(buffers.ops, live, sum(allocated), sum(reused), len(allocated), len(reused), saved)


def saved_bytes(forward: func.FuncOp) -> int:
    """Bytes of the saved values that only the program holds; of open sizes, what they are expected to be."""
    return expected_bytes(value for value, kind in returned_saved(forward) if kind == "private")


def held_for_replays(module: Module) -> int:
    """Bytes of the arguments that live on for a second derivative alone, besides parameters and buffers."""
    static = [STATIC in facts for facts in argument_facts(module.call)]
    total = 0
    for border in module.borders.values():
        taken = arguments(module.functions[referred(border, FORWARD)])
        for number, facts in enumerate(argument_facts(border)):
            total += expected_ref_bytes(taken[number]) if FOR_REPLAY in facts and not static[number] else 0
    return total

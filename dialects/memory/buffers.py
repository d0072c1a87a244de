"""Which values of a function lie in the same memory.

The memory plan, its verifier, the figures and the emitter all ask here, so they can't disagree about a view. What an
op's result lies in, `result_memory` says, as it does for `roots`. Here memory that is taken over is the operand's, too.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FOLLOWED
from dovetail.dialects.dovetail import AllocOp, CopyOp, DestinationOp, DetachOp, OwnOp, ReadOp, RefType, ReuseOp
from dovetail.dialects.memory.buffer import Buffer, MemoryOrigin
from dovetail.dialects.memory.result_memory import may_keep_operands, result_memory
from dovetail.dialects.reading import COMPUTING, Module, Role, argument_fact, arguments, body, forward_of, role
from dovetail.dialects.statements.calls import returned_saved
from dovetail.dialects.torch_facts import names
from dovetail.dialects.torch_facts.ops import is_constant, row
from dovetail.dialects.torch_facts.row import ResultMemory
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.strides import reshape
from dovetail.dialects.torch_facts.types import holds_tensors, is_list_type, is_open_type, tensor_info

_AS_OPERAND = (names.LOAD, names.UNPACK, ReadOp.OPERATION_NAME, DetachOp.OPERATION_NAME)
"""What shows its operand's memory by the same strides."""


class Buffers:
    """The buffers of a one-block function, in order, and which of them each value lies in.

    `strides` are those of its values, in elements, as far as they are known; `function` is where they are.
    Memory whose size is open counts no bytes.
    """

    def __init__(self, function_op: func.FuncOp, strides: Mapping[ir.Value, Sizes] | None = None):
        self.function = function_op
        self.ops = body(function_op)
        self.all: list[Buffer] = []
        self.by_value: dict[ir.Value, Buffer] = {}
        self.strides: dict[ir.Value, Sizes] = dict(strides or {})
        for index, argument in enumerate(arguments(function_op)):
            is_ref = isinstance(argument.type, RefType)
            if is_ref and None not in argument.type.strides and argument_fact(function_op, index, FOLLOWED) is None:
                self.strides[argument] = argument.type.strides
            if is_ref or holds_tensors(argument.type):
                self._make(argument, MemoryOrigin.ARGUMENT, -1)
        for index, op in enumerate(self.ops):
            used = self.used(op)
            for buffer in used:
                buffer.last = index
            is_asked = used and op.name.startswith("torch.")
            for buffer in {each for one in used for each in one.may_be} if is_asked and may_keep_operands(op) else ():
                buffer.kept_by = op
            for result in op.results:
                if (holds_tensors(result.type) or is_list_type(result.type)) and not is_constant(op):
                    self._follow(op, result, index, used)

    def used(self, op: ir.Operation) -> list[Buffer]:
        """The buffers that the operands of `op` lie in."""
        return [found for value in op.operands if (found := self.by_value.get(value)) is not None]

    def is_whole(self, value: ir.Value) -> bool:
        """Whether `value` is known to be all of its buffer, row by row."""
        return self._is_row_major(value) and _nbytes(value) == self.by_value[value].nbytes

    def _is_row_major(self, value: ir.Value) -> bool:
        strides = _row_major(value)
        return strides is not None and self.strides.get(value) == strides

    def _make(
        self, root: ir.Value, origin: MemoryOrigin, start: int, nbytes: int = 0, within: Sequence[Buffer] = ()
    ) -> None:
        memory = frozenset(each for one in within for each in one.may_be)
        buffer = Buffer(root, origin, start, nbytes, memory, [root], last=start)
        self.all.append(buffer)
        self.by_value[root] = buffer
        for each in memory:
            each.views.append(buffer)

    def _make_row_major(self, root: ir.Value, origin: MemoryOrigin, start: int, within: Sequence[Buffer] = ()) -> None:
        strides = _row_major(root)
        if strides is not None:
            self.strides[root] = strides
        is_counted = origin is not MemoryOrigin.LITERAL and not within
        self._make(root, origin, start, _nbytes(root) if is_counted else 0, within)

    def _join(self, value: ir.Value, buffer: Buffer, strides: Sizes | None) -> None:
        self.by_value[value] = buffer
        buffer.values.append(value)
        if strides is not None:
            self.strides[value] = strides

    def _follow(self, op: ir.Operation, result: ir.Value, index: int, used: list[Buffer]) -> None:
        """Finds out where `result` lies."""
        match op.name:
            case AllocOp.OPERATION_NAME | ReuseOp.OPERATION_NAME:
                self._make_row_major(result, MemoryOrigin.ALLOCATED, index)
            case DestinationOp.OPERATION_NAME:
                self._make_row_major(result, MemoryOrigin.OTHER, index, used if op.opview.proof_name != "none" else ())
            case OwnOp.OPERATION_NAME:
                self._follow_own(op.opview, index, used[0])
            case CopyOp.OPERATION_NAME:
                self._follow_copy(op.opview, index)
            case names.LITERAL:
                self._make_row_major(result, MemoryOrigin.LITERAL, index)
            case names.LIST:
                self._make(result, MemoryOrigin.OTHER, index, within=used)
            case _:
                self._follow_other(op, result, index, used)

    def _follow_copy(self, op: CopyOp, index: int) -> None:
        """A copy keeps the strides of what is dense."""
        if self._is_row_major(op.value):
            self._make_row_major(op.copied, MemoryOrigin.EXACT, index)
        else:
            self._make(op.copied, MemoryOrigin.EXACT, index, _nbytes(op.copied))

    def _follow_own(self, op: OwnOp, index: int, value: Buffer) -> None:
        """`own` copies where the value has other strides than eager's result."""
        strides = self.strides.get(op.value)
        if strides == op.ref.type.strides:
            self._join(op.ref, value, strides)
        else:
            self._make(op.ref, MemoryOrigin.OTHER, index, _nbytes(op.value), () if strides is not None else [value])

    def _follow_other(self, op: ir.Operation, result: ir.Value, index: int, used: list[Buffer]) -> None:
        memory = result_memory(op)
        if not used:
            self._make(result, MemoryOrigin.OTHER, index, _nbytes(result))
        elif memory in (ResultMemory.OPERAND, ResultMemory.BY_STRIDES):
            self._follow_view(op, result, index, used[0], memory)
        elif memory is ResultMemory.UNKNOWN:
            siblings = [self.by_value[result] for result in op.results if result in self.by_value]
            self._make(result, MemoryOrigin.OTHER, index, _nbytes(result), [*used, *siblings])
        else:
            origin = MemoryOrigin.EXACT if memory is ResultMemory.EXACT else MemoryOrigin.OTHER
            if row(op).is_row_major:
                self._make_row_major(result, origin, index)
            else:
                self._make(result, origin, index, _nbytes(result))

    def _follow_view(
        self, op: ir.Operation, result: ir.Value, index: int, source: Buffer, memory: ResultMemory
    ) -> None:
        value, rule = op.operands[0], row(op).strides
        info, known, new = tensor_info(value.type), self.strides.get(value), tensor_info(result.type)
        strides = None
        if rule is not None and info is not None and known is not None and not is_open_type(result.type):
            strides = rule(op, info.shape, known, new.shape if new else ())
        if memory is ResultMemory.OPERAND or strides is not None:
            self._join(result, source, known if op.name in _AS_OPERAND else strides)
        elif known is not None and rule is reshape:
            self._make_row_major(result, MemoryOrigin.OTHER, index)
        else:
            self._make(result, MemoryOrigin.OTHER, index, _nbytes(result), [source])


def host_buffers(function_op: func.FuncOp, of_forward: Buffers | None = None) -> Buffers:
    """The buffers of a host function; the strides of `@backward`'s saved values are those that `@forward` leaves.

    Those of `@forward` are asked for again unless they are given.
    """
    forward = forward_of(function_op)
    if forward is None:
        return Buffers(function_op)
    found = of_forward or Buffers(forward)
    saved = [found.strides.get(value) for value, _ in returned_saved(forward)]
    known = zip(arguments(function_op), saved, strict=False)
    return Buffers(function_op, {argument: strides for argument, strides in known if strides is not None})


def all_host_buffers(module: Module) -> dict[str, Buffers]:
    """The buffers of the functions whose memory the program plans, by symbol: what computes, and control flow runs."""
    functions = module.of(*COMPUTING)
    found = {name: Buffers(op) for name, op in functions.items() if role(op) is not Role.BACKWARD}
    forward = next((found[name] for name in module.of(Role.FORWARD)), None)
    return {name: found[name] if name in found else host_buffers(op, forward) for name, op in functions.items()}


def _row_major(value: ir.Value) -> Sizes | None:
    info = tensor_info(value.type)
    return None if info is None else info.contiguous_strides


def _nbytes(value: ir.Value) -> int:
    if isinstance(value.type, RefType):
        return value.type.info.nbytes if value.type.shaped.is_static else 0
    info = tensor_info(value.type)
    return 0 if info is None else info.nbytes

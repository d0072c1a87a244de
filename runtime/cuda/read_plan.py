"""Loads launch plans for CUDA: from the IR to plain records."""

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLAN
from dovetail.dialects.dovetail import (
    BarrierOp,
    ConstantOp,
    CopyBufferOp,
    DispatchOp,
    FillBufferOp,
    OpenDispatchOp,
    OpenSubspanOp,
    OpenTransientOp,
    SubspanOp,
    TransientOp,
)
from dovetail.dialects.dovetail.numbers import Number
from dovetail.dialects.plans import code_of, digest
from dovetail.dialects.reading import body, made_by, referred
from dovetail.dialects.regions import destinations
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.open_plan import CudaPlan, Form, OpenPlan, OpenRecord
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.records import BUFFER_ALIGNMENT, Copy, Dispatch, Fill, PlanRecord, Range, Step
from dovetail.runtime.plan_numbers import OPERATIONS, PlanNumbers


def load_cuda_plan(plan: func.FuncOp, code: bytes) -> CudaPlan:
    """What runs the region of `plan` on a GPU; its `library.code` is `code`, which is loaded by the first call.

    Raises:
        ValueError: if `code` is not what the plan names, or the plan says something that no launch can do.
    """
    name = referred(plan, PLAN)
    if digest(code) != code_of(plan):
        raise ValueError(f"region '{name}': the plan is for code {code_of(plan)}, got {digest(code)}")
    try:
        record = read_record(plan)
    except ValueError as error:
        raise ValueError(f"region '{name}': {error}") from error
    library = load_library(code)
    return Plan(record, library) if isinstance(record, PlanRecord) else OpenPlan(record, library)


def read_record(plan: func.FuncOp) -> PlanRecord | OpenRecord:
    """What `plan` says, for known sizes or open ones; raises ValueError for what no launch on a GPU can do."""
    reader = _Reader(plan)
    infos = [shaped_info(each.type) for each in plan.arguments]
    arguments = tuple(
        None if info is None else (getattr(torch, info.dtype), info.shape, is_written)
        for info, is_written in zip(infos, destinations(plan), strict=True)
    )
    numbers = tuple(reader.numbers.registers), tuple(reader.instructions())
    buffers = tuple(reader.transients), bytes(reader.constants)
    record = OpenRecord(referred(plan, PLAN), arguments, *buffers, tuple(reader.steps), *numbers)
    shapes = [tuple(size for size in info.shape if size is not None) for info in infos if info and info.is_static]
    is_open = len(shapes) < len(infos)
    return record if is_open else record.closed([torch.empty(shape, device="meta") for shape in shapes])


class _Reader:
    """Transients are the buffers after the arguments, constants lie in the next one."""

    def __init__(self, plan: func.FuncOp):
        ops = [each.opview for each in body(plan)]
        self.numbers = PlanNumbers(list(plan.arguments))
        self.transients: list[Form] = []
        self.constants = bytearray()
        self._places = {argument: (place, 0) for place, argument in enumerate(plan.arguments)}
        self._first = len(plan.arguments)
        self._last = self._first + sum(isinstance(op, TransientOp | OpenTransientOp) for op in ops)
        self.steps = [step for op in ops if (step := self._step(op)) is not None]

    def instructions(self) -> list[tuple[str, int, int, int, int]]:
        """What computes the registers, by name."""
        names = {place: name for name, place in OPERATIONS.items()}
        return [(names[each[0]], *each[1:]) for each in self.numbers.instructions]

    def _form(self, number: Number) -> Form:
        return self.numbers.form(number)

    def _step(self, op: ir.OpView) -> Step | None:
        """The launch that `op` is, if it is one."""
        match op:
            case TransientOp() | OpenTransientOp():
                self._places[op.memory] = (self._first + len(self.transients), 0)
                self.transients.append(self._form(op.size))
            case ConstantOp():
                self._places[op.memory] = (self._last, len(self.constants))
                self.constants += op.contents + bytes(-op.size % BUFFER_ALIGNMENT)
            case DispatchOp() | OpenDispatchOp():
                return self._dispatch(op)
            case FillBufferOp():
                return Fill(self._range(op.target), op.bits, op.width)
            case CopyBufferOp():
                return Copy(self._range(op.source), self._range(op.target))
            case SubspanOp() | OpenSubspanOp() | BarrierOp() | func.ReturnOp():
                return None
            case _ if not self.numbers.read(op):
                raise ValueError(f"a plan has no '{op.operation.name}'")
        return None

    def _dispatch(self, op: DispatchOp | OpenDispatchOp) -> Dispatch:
        if not op.threads:
            raise ValueError(f"the launch of '{op.entry_name}' does not say how many threads a workgroup has")
        counts, words = (tuple(map(self._form, each)) for each in (op.counts, op.words))
        return Dispatch(op.entry_name, counts, op.threads, op.shared_bytes, words, tuple(map(self._range, op.memory)))

    def _range(self, value: ir.Value) -> Range:
        made = made_by(value, SubspanOp.OPERATION_NAME, OpenSubspanOp.OPERATION_NAME)
        if made is None or (span := made.opview).memory not in self._places:
            raise ValueError("launches take subspans of arguments, transients and constants alone")
        buffer, offset = self._places[span.memory]
        if isinstance(span.start, int):
            return Range(buffer, offset + span.start, self._form(span.size))
        if offset:
            raise ValueError("what is read of a constant starts at no number")
        return Range(buffer, self._form(span.start), self._form(span.size))

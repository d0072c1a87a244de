"""Loads launch plans for CUDA: from the IR to plain records."""

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLAN
from dovetail.dialects.dovetail import BarrierOp, CopyBufferOp, DispatchOp, FillBufferOp
from dovetail.dialects.plans import check_code
from dovetail.dialects.reading import body, referred
from dovetail.dialects.regions import destinations
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.open_plan import CudaPlan, MaybeOpen, OpenPlan, OpenRecord
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.records import BUFFER_ALIGNMENT, Copy, Dispatch, Fill, PlanRecord, Range, Step
from dovetail.runtime.plan_memory import PlanMemory
from dovetail.runtime.plan_numbers import OPERATIONS, PlanNumbers


def load_cuda_plan(plan: func.FuncOp, code: bytes) -> CudaPlan:
    """What runs the region of `plan` on a GPU; its `library.code` is `code`, which is loaded by the first call.

    Raises:
        ValueError: if `code` is not what the plan names, or the plan says something that no launch can do.
    """
    check_code(plan, code)
    try:
        record = read_record(plan)
    except ValueError as error:
        raise ValueError(f"region '{referred(plan, PLAN)}': {error}") from error
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
    buffers = tuple(reader.memory.transients), bytes(reader.memory.constants)
    record = OpenRecord(referred(plan, PLAN), arguments, *buffers, tuple(reader.steps), *numbers)
    shapes = [tuple(size for size in info.shape if size is not None) for info in infos if info and info.is_static]
    is_open = len(shapes) < len(infos)
    return record if is_open else record.closed([torch.empty(shape, device="meta") for shape in shapes])


class _Reader:
    def __init__(self, plan: func.FuncOp):
        self.numbers = PlanNumbers(list(plan.arguments))
        self.memory = PlanMemory(plan, self.numbers, BUFFER_ALIGNMENT)
        self.steps = [step for op in body(plan) if (step := self._step(op.opview)) is not None]

    def instructions(self) -> list[tuple[str, int, int, int, int]]:
        """What computes the registers, by name."""
        names = {index: name for name, index in OPERATIONS.items()}
        return [(names[each[0]], *each[1:]) for each in self.numbers.instructions]

    def _step(self, op: ir.OpView) -> Step | None:
        """The launch that `op` is, if it is one."""
        match op:
            case DispatchOp():
                return self._dispatch(op)
            case FillBufferOp():
                return Fill(self._range(op.target), op.bits, op.width)
            case CopyBufferOp():
                return Copy(self._range(op.source), self._range(op.target))
            case BarrierOp() | func.ReturnOp():
                return None
            case _ if not self.memory.read(op) and not self.numbers.read(op):
                raise ValueError(f"a plan has no '{op.operation.name}'")
        return None

    def _dispatch(self, op: DispatchOp) -> Dispatch:
        if not op.threads:
            raise ValueError(f"the launch of '{op.entry_name}' does not say how many threads a workgroup has")
        counts: tuple[MaybeOpen, ...] = tuple(map(self.numbers.maybe_open, op.counts))
        words: tuple[MaybeOpen, ...] = tuple(map(self.numbers.maybe_open, op.words))
        return Dispatch(op.entry_name, counts, op.threads, op.shared_bytes, words, tuple(map(self._range, op.bindings)))

    def _range(self, value: ir.Value) -> Range:
        found: tuple[MaybeOpen, ...] = self.memory.range(value)
        return Range(*found)

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
    SubspanOp,
    TransientOp,
)
from dovetail.dialects.plans import code_of, digest
from dovetail.dialects.reading import body, made_by, referred
from dovetail.dialects.regions import destinations
from dovetail.dialects.torch_facts.types import require_tensor_info
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.records import Argument, Copy, Dispatch, Fill, PlanRecord, Range, Step

BUFFER_ALIGNMENT = 256
"""Bytes between transients and between constants: a row of the memory's own transfers."""


def load_cuda_plan(plan: func.FuncOp, code: bytes) -> Plan:
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
    return Plan(record, load_library(code))


def read_record(plan: func.FuncOp) -> PlanRecord:
    """What `plan` says; raises ValueError for what no launch on a GPU can do."""
    written = destinations(plan)
    infos = [require_tensor_info(each.type) for each in plan.arguments]
    arguments = (
        Argument(getattr(torch, info.dtype), info.shape, is_written)
        for info, is_written in zip(infos, written, strict=True)
    )
    reader = _Reader(plan)
    steps = tuple(step for op in body(plan) if (step := reader.step(op)) is not None)
    return PlanRecord(referred(plan, PLAN), tuple(arguments), reader.transient_bytes, bytes(reader.constants), steps)


class _Reader:
    """Transients lie in one buffer, after the arguments, constants in the next."""

    def __init__(self, plan: func.FuncOp):
        self.transient_bytes, self.constants = 0, bytearray()
        self._places = {argument: (place, 0) for place, argument in enumerate(plan.arguments)}
        self._count = len(plan.arguments)

    def step(self, op: ir.Operation) -> Step | None:
        """The launch that `op` is, if it is one."""
        match op.opview:
            case TransientOp() as made:
                self._places[made.memory] = (self._count, self.transient_bytes)
                self.transient_bytes += -(-made.size // BUFFER_ALIGNMENT) * BUFFER_ALIGNMENT
            case ConstantOp() as made:
                self._places[made.memory] = (self._count + 1, len(self.constants))
                self.constants += made.contents + bytes(-made.size % BUFFER_ALIGNMENT)
            case DispatchOp() as launch:
                return self._dispatch(launch)
            case FillBufferOp() as fill:
                return Fill(self._range(fill.target), fill.bits, fill.width)
            case CopyBufferOp() as copy:
                return Copy(self._range(copy.source), self._range(copy.target))
            case SubspanOp() | BarrierOp() | func.ReturnOp():
                return None
            case _:
                raise ValueError(f"a plan has no '{op.name}'")
        return None

    def _dispatch(self, op: DispatchOp) -> Dispatch:
        if not op.threads:
            raise ValueError(f"the launch of '{op.entry_name}' does not say how many threads a workgroup has")
        bindings = tuple(map(self._range, op.operation.operands))
        return Dispatch(op.entry_name, op.counts, op.threads, op.shared_bytes, op.words, bindings)

    def _range(self, value: ir.Value) -> Range:
        made = made_by(value, SubspanOp.OPERATION_NAME)
        if made is None or (span := made.opview).memory not in self._places:
            raise ValueError("launches take subspans of arguments, transients and constants alone")
        buffer, offset = self._places[span.memory]
        return Range(buffer, offset + span.start, span.size)

"""Loads launch plans for CUDA: from the IR to plain records."""

import torch
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLAN
from dovetail.dialects.reading import referred
from dovetail.dialects.statements.plans import check_code
from dovetail.dialects.statements.regions import destinations
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.open_plan import BUFFER_ALIGNMENT, CudaPlan, OpenPlan, OpenRecord
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import PlanRecord
from dovetail.runtime.launches.plan_reader import PlanReader
from dovetail.runtime.launches.plan_records import Dispatch


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
    reader = PlanReader(plan, BUFFER_ALIGNMENT)
    steps = tuple(step for _, step in reader.steps)
    for step in steps:
        if isinstance(step, Dispatch) and not step.threads:
            raise ValueError(f"the launch of '{step.entry}' does not say how many threads a workgroup has")
    infos = list(map(shaped_info, plan.type.inputs))
    arguments = tuple(
        None if info is None else (getattr(torch, info.dtype), info.shape, is_written)
        for info, is_written in zip(infos, destinations(plan), strict=True)
    )
    numbers = tuple(reader.registers), tuple(reader.instructions)
    buffers = tuple(reader.transients), bytes(reader.constants)
    record = OpenRecord(referred(plan, PLAN), arguments, *buffers, steps, *numbers)
    shapes = [tuple(size for size in info.shape if size is not None) for info in infos if info and info.is_static]
    is_open = len(shapes) < len(infos)
    return record if is_open else record.closed([torch.empty(shape, device="meta") for shape in shapes])

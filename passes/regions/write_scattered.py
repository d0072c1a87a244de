"""Pass `write-scattered`: slices and rows are written into the tensor that they change, without a copy of either."""

from typing import NamedTuple

from torch_mlir import ir

from dovetail.dialects.attributes import STRIDES
from dovetail.dialects.building.region_builder import new_memory
from dovetail.dialects.dovetail import AllocOp
from dovetail.dialects.reading import made_by, producer, users
from dovetail.dialects.sizes.symbols import state_sizes
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.ops import aten_name, row
from dovetail.dialects.torch_facts.row import WritesInto
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.regions.given_memory import can_write, give, give_part, library_calls, sizes_by
from dovetail.passes.rewriting.constants import integer, is_none


class _Part(NamedTuple):
    """Where a slice lies."""

    dim: int
    start: int
    step: int


class WriteScatteredPass(Pass, name="write-scattered", runs_at="regions"):
    """Scatters slices into memory that a region or a fill made for that; pointwise library calls write them there.

    ATen's `slice_scatter` copies what it scatters into. The gradient of a slice is scattered into zeros, on a CPU. Rows
    are added (`index_add`) to such memory on every device: those of an embedding's gradient to zeros, on a GPU, or to a
    product (`mm`), which is written there then.

    Before:  `%0 = aten.full(...); %1 = aten.mul(%x, %y); %2 = aten.slice_scatter(%0, %1, ...)`
    After:   `%m = alloc; aten.full(..., %m); %0 = torch.copy.to_vtensor %m; %p = part %m {step};
             aten.mul(%x, %y, %p); %1 = torch.copy.to_vtensor %p; aten.slice_scatter(%0, %1, ..., %m);
             %2 = torch.copy.to_vtensor %m`
    """

    def run(self, module: ir.Module) -> bool:
        on_cpu = device_type(module) == "cpu"
        slices = list(library_calls(module, "aten.slice_scatter.default")) if on_cpu else []
        rows = list(library_calls(module, "aten.index_add.default"))
        for op, known in slices:
            _write_slice(op, known)
        for op, known in rows:
            _write(op, op, known)
        return bool(slices or rows)


def _write_slice(scatter: ir.Operation, known: set[int]) -> None:
    base, source = scatter.operands[0], scatter.operands[1]
    part = _part(scatter)
    dtypes = {require_shaped_info(value.type).dtype for value in (base, source)}
    writes = part is not None and can_write(source) and len(dtypes) == 1 and sizes_by(source, known) is not None
    made = producer(base)
    if part is None or made is None or not writes or not made.is_before_in_block(source.owner):
        _write(scatter, scatter, known)
        return
    memory = _write(scatter, source.owner, known)
    if memory is not None:
        give_part(source, memory, *part)


def _write(scatter: ir.Operation, first: ir.Operation, known: set[int]) -> ir.Value | None:
    """Has `scatter` write to the memory of its base, of a fill from before `first` on; gives it, None if it stays."""
    base = scatter.operands[0]
    made = producer(base)
    if made is None:
        return None
    if is_extern(made) and aten_name(made) == "aten.full.default" and sizes_by(base, known) is not None:
        memory = _fill(made, first, scatter)
    elif made.name == LOAD and _is_alone(made):
        memory = made.operands[0]
    elif _is_product(made) and sizes_by(base, known) is not None:
        with made.location, ir.InsertionPoint(made):
            memory = state_sizes(new_memory(base), base)
        give(made, memory)
    else:
        return None
    give(scatter, memory)
    return memory


def _part(scatter: ir.Operation) -> _Part | None:
    """None where a number is open, or counts from an end that is."""
    dim, start, step = (integer(scatter.operands[index]) for index in (2, 3, 5))
    start = 0 if is_none(scatter.operands[3]) else start
    if dim is None or start is None or step is None:
        return None
    shape = require_shaped_info(scatter.results[0].type).shape
    size = shape[dim % len(shape)]
    if size is not None:
        start = slice(start, None).indices(size)[0]
    return None if start < 0 else _Part(dim % len(shape), start, step)


def _is_alone(loaded: ir.Operation) -> bool:
    """Whether a region wrote what is `loaded` for its one user, which may overwrite it."""
    memory = loaded.operands[0]
    made = made_by(memory, AllocOp.OPERATION_NAME)
    return made is not None and len(users(memory)) == 2 and len(list(loaded.results[0].uses)) == 1


def _is_product(made: ir.Operation) -> bool:
    """Whether it is a library's product for its one user, which may overwrite it."""
    is_call = is_extern(made) and row(made).writes_into is WritesInto.PRODUCT and STRIDES not in made.attributes
    return is_call and len(made.results) == 1 and len(list(made.results[0].uses)) == 1


def _fill(filled: ir.Operation, first: ir.Operation, scatter: ir.Operation) -> ir.Value:
    """Builds memory before `first` that holds what is `filled`, and has `scatter` read it there."""
    value = filled.results[0]
    with filled.location, ir.InsertionPoint(first):
        memory = state_sizes(new_memory(value), value)
        own = filled.clone().operation
    scatter.operands[0] = own.results[0]
    give(own, memory)
    if not list(value.uses):
        filled.erase()
    return memory

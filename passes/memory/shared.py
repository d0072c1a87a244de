"""Which results of regions may lie where operands lie that die there.

A region may write its results before it has read its operands: docs/iree-region-abi.md. Where each element of an
operand is read only to compute the one that takes its place, one loop reads it before it writes.
"""

from collections import Counter

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import KEPT_APART
from dovetail.dialects.building.cloning import FROM_PYTHON, ancestors
from dovetail.dialects.dovetail import AllocOp, ReuseOp
from dovetail.dialects.memory.buffer import Buffer
from dovetail.dialects.memory.buffers import Buffers
from dovetail.dialects.reading import Module, arguments, body, made_by, of_class, producer, symbol, users
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.ops import Kind, is_constant, row
from dovetail.dialects.torch_facts.strides import reshape
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, tensor_info
from dovetail.passes.in_place.cones import MAX_READ, is_elementwise
from dovetail.passes.memory.lives import Lives
from dovetail.passes.memory.reuse import LEAST_BYTES

_TYPES = ("float32", "float64")
"""Decision 12 measured that a region may overwrite what it reads of these; they are not rounded on the way."""

_WITHOUT_LOOP = (Kind.POINTWISE, Kind.VIEW)


def find_shared(lives: Lives, module: Module) -> dict[Buffer, Buffer]:
    """By the buffer that a region makes, the one of an operand that dies there, and whose memory it gets."""
    found: dict[Buffer, Buffer] = {}
    buffers = lives.buffers
    for call in of_class(buffers.ops, func.CallOp):
        region = module.region(call)
        if region is None or KEPT_APART in region.attributes:
            continue
        values, takers = list(call.operands), _takers(buffers, call)
        for read, value in enumerate(values):
            dead = buffers.by_value.get(value)
            if dead is None or takers[dead] > 1 or not lives.dies_at(dead, call):
                continue
            written = place_of(region, read)
            made = None if written is None else buffers.by_value[values[written]]
            if made and made not in found and _is_new(made.root, call) and _is_all_of(value, made.root, buffers):
                found[made] = dead
    return found


def why_apart(buffers: Buffers, call: ir.Operation, read: int, written: int, module: Module) -> str:
    """Why what `call` has `written` can't lie where what it has `read` lies, in a verifier's words; "" if it can."""
    values, region = list(call.operands), module.callee(call)
    if KEPT_APART in region.attributes:
        return f"'@{symbol(region)}' is kept apart"
    if _takers(buffers, call)[buffers.by_value[values[read]]] > 1:
        return "another operand lies there, too"
    if not _is_all_of(values[read], values[written], buffers):
        return f"it is not all of '{values[written].type}' row by row"
    is_placed = place_of(region, read) == written
    return "" if is_placed else "an element is read for more than the one that takes its place"


def _takers(buffers: Buffers, call: ir.Operation) -> Counter[Buffer]:
    return Counter(each for one in buffers.used(call) for each in one.may_be)


def _is_new(memory: ir.Value, call: ir.Operation) -> bool:
    """Whether nothing but `call` writes to memory, which is allocated for it."""
    made = made_by(memory, AllocOp.OPERATION_NAME)
    is_plain = made is not None and not made.opview.device_name
    return is_plain and all(op == call or op.name == LOAD for op in users(memory))


def _is_all_of(value: ir.Value, memory: ir.Value, buffers: Buffers) -> bool:
    """Whether a region that reads `value` reads all bytes of its buffer, in the order in which it writes `memory`.

    What lies in other strides is read from a copy in rows. Of known sizes, less than a page is left alone, as by other
    reuse.
    """
    dead = buffers.by_value[value].root
    given, root, made = tensor_info(value.type), tensor_info(dead.type), tensor_info(memory.type)
    if given is not None and root is not None and made is not None:
        return given.nbytes == root.nbytes == made.nbytes >= LEAST_BYTES
    is_whole = value == dead or (made_by(value, LOAD) is not None and value.owner.operands[0] == dead)
    return is_whole and _lies_in_rows(dead) and known_sizes(dead) == known_sizes(memory) is not None


def _lies_in_rows(dead: ir.Value) -> bool:
    op = producer(dead)
    return op is not None and (op.name in (AllocOp.OPERATION_NAME, ReuseOp.OPERATION_NAME) or row(op).is_row_major)


def place_of(region: func.FuncOp, read: int) -> int | None:
    """The position of the result of a lowered `region` each of whose elements may take the place of one that it reads.

    That is, argument `read` is needed for this result alone, and each element for the one at the same place. None where
    there is no such result. A region that updates arguments in place has none.
    """
    source = arguments(region)[read]
    info = shaped_info(source.type)
    reached, waiting, stores = {source}, [source], list[ir.Operation]()
    while waiting and info is not None and info.dtype in _TYPES:
        value = waiting.pop()
        sizes = known_sizes(value)
        for op in users(value):
            if op.name == STORE:
                stores.append(op)
            elif _reshapes(op) or (_makes_tensor(op) and sizes is not None and is_elementwise(op, sizes)):
                waiting += [each for each in op.results if each not in reached]
                reached.update(op.results)
            else:
                return None
    if len(stores) != 1 or any(op.name == LOAD for op in body(region)):
        return None
    value, memory = stores[0].operands
    is_alike = info is not None and info.dtype == require_shaped_info(memory.type).dtype
    return ir.BlockArgument(memory).arg_number if is_alike and _is_one_loop(value) else None


def _reshapes(op: ir.Operation) -> bool:
    """Whether `op` keeps all elements in their order."""
    is_reshape = row(op).strides is reshape and _makes_tensor(op)
    return is_reshape and _element_type(op.operands[0]) == _element_type(op.results[0])


def _element_type(value: ir.Value) -> str:
    return require_shaped_info(value.type).dtype


def _makes_tensor(op: ir.Operation) -> bool:
    return len(op.results) == 1 and shaped_info(op.results[0].type) is not None


def _is_one_loop(value: ir.Value) -> bool:
    """Whether what computes `value` computes something, of few tensors, and nothing in a loop of its own: decision 12.

    A sum of another operand might use the destination as its accumulator, before the one that lies there is read.
    """
    made = producer(value)
    computing = ancestors([] if made is None else [made])
    read = {each for op in computing for each in op.operands if producer(each) is None}
    return not all(map(_reshapes, computing)) and all(map(_needs_no_loop, computing)) and len(read) <= MAX_READ


def _needs_no_loop(op: ir.Operation) -> bool:
    """Whether whoever reads an element that `op` makes can compute it there, of one of each operand, or of none."""
    known = row(op)
    return is_constant(op) or _reshapes(op) or known.kind in _WITHOUT_LOOP or known.is_fill or op.name in FROM_PYTHON

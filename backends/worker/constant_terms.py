"""Reductions whose terms are one constant: IREE's vectors add it up once each, not once a term; such must not run."""

from iree.compiler import ir

from dovetail.backends.worker.walk import producer, reading, walk

_FILL, _INDEX = "linalg.fill", "linalg.index"
_IDEMPOTENT = tuple(
    f"arith.{name}" for name in ("andi", "maximumf", "maxsi", "maxui", "minimumf", "minsi", "minui", "ori")
)
"""By which a constant may be taken in once."""
_CASTS = ("tensor.cast", "tensor.collapse_shape", "tensor.expand_shape", "tensor.extract_slice")


def check(text: bytes) -> bytes:
    """`text`, of IREE's phase `flow`, as it is.

    Raises:
        ValueError: where a reduction in it has terms that are one constant.
    """
    with reading(), ir.Location.unknown():
        module = ir.Module.parse(text)  # which ends with its name, and its ops with it
        for op in walk(module.operation):
            if _is_loop(op) and any("reduction" in str(kind) for kind in op.attributes["iterator_types"]):
                _check_terms(op)
    return text


def _is_loop(op: ir.Operation) -> bool:
    return "iterator_types" in op.attributes and len(op.regions) == 1


def _check_terms(op: ir.Operation) -> None:
    """Raises ValueError where what `op` adds to, or multiplies with, one of its results is one constant."""
    block = op.regions[0].blocks[0]
    sums = list(block.arguments)[len(block.arguments) - len(op.results) :]
    yielded = block.operations[len(block.operations) - 1].operands
    for number, (reduced, value) in enumerate(zip(sums, yielded, strict=True)):
        read, indexed = _leaves(op, number)
        made = producer(value)
        if made is None or made.name in _IDEMPOTENT or reduced not in read or indexed:
            continue
        if _are_constant(op, read - {reduced}):
            raise ValueError("a reduction would lose terms: each is the same constant, which IREE adds once a vector")


def _leaves(op: ir.Operation, number: int) -> tuple[set[ir.Value], bool]:
    """The arguments of the body of `op` that its result of that number is made of, and whether it is of an index."""
    block = op.regions[0].blocks[0]
    read: set[ir.Value] = set()
    indexed, pending = False, [block.operations[len(block.operations) - 1].operands[number]]
    while pending:
        value = pending.pop()
        made = producer(value)
        if made is None:
            if value.owner == block:
                read.add(value)
            continue
        indexed |= made.name == _INDEX
        pending += made.operands
    return read, indexed


def _are_constant(op: ir.Operation, read: set[ir.Value]) -> bool:
    """Whether each operand that is `read` in the body of `op` holds one constant."""
    arguments = list(op.regions[0].blocks[0].arguments)
    return all(_is_constant(op.operands[arguments.index(each)]) for each in read)


def _is_constant(value: ir.Value) -> bool:
    """Whether all elements of a tensor are one constant that IREE may fold into what reads it."""
    made = producer(value)
    if made is None:
        return False
    if made.name in _CASTS:
        return _is_constant(made.operands[0])
    if not _is_loop(made) or any("reduction" in str(kind) for kind in made.attributes["iterator_types"]):
        return made.name == _FILL
    read, indexed = _leaves(made, list(made.results).index(value))
    return not indexed and _are_constant(made, read)

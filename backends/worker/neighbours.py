"""Has numbers that lie beside each other accessed as such, in kernels of the LLVM dialect that turn tensors.

Of a tile whose innermost loop has 3 iterations, IREE accesses vectors of 3 numbers, each by an address of its own. LLVM
makes one access of several neighbours, up to 16 bytes, where it knows that they are, and how they are aligned; vectors
it takes none apart.
"""

from iree.compiler import ir

from dovetail.backends.worker.places import Place, place
from dovetail.backends.worker.walk import create, replace, walk

_ADDRESS = {"llvm.load": 0, "llvm.store": 1}
"""Which operand is the address."""


def join_neighbours(kernel: ir.Operation) -> None:
    """Has `kernel` access numbers of vectors that are no power of two one by one, by their distance from earlier ones.

    What it reads, writes and computes, and in which order, stays.
    """
    accesses = [op for op in walk(kernel) if op.name in _ADDRESS]
    if not any(_is_odd(_accessed(op)) for op in accesses):
        return
    first: dict[tuple[ir.Block, frozenset[tuple[ir.Value, int]]], tuple[ir.Value, Place]] = {}
    for op in accesses:
        address = op.operands[_ADDRESS[op.name]]
        at = place(address)
        start, known = first.setdefault((op.block, frozenset(at.terms.items())), (address, at))
        with op.location, ir.InsertionPoint(op):
            if at.rest != known.rest:
                op.operands[_ADDRESS[op.name]] = _behind(start, ir.IntegerType.get_signless(8), at.rest - known.rest)
            if _is_odd(_accessed(op)):
                _part(op, at)


def _accessed(op: ir.Operation) -> ir.Type:
    return op.results[0].type if op.name == "llvm.load" else op.operands[0].type


def _is_odd(type_: ir.Type) -> bool:
    return isinstance(type_, ir.VectorType) and type_.shape[0].bit_count() != 1


def _part(op: ir.Operation, at: Place) -> None:
    """Puts accesses of single numbers in the place of one of a vector."""
    vector, address = _accessed(op), op.operands[_ADDRESS[op.name]]
    type_, i32, i64 = vector.element_type, ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(64)
    read = create("llvm.mlir.poison", vector)
    for number in range(vector.shape[0]):
        pointer = _behind(address, type_, number)
        index = create("llvm.mlir.constant", i32, value=ir.IntegerAttr.get(i32, number))
        aligned = ir.IntegerAttr.get(i64, at.alignment(number * type_.width // 8))
        if op.name == "llvm.load":
            loaded = create("llvm.load", type_, pointer, alignment=aligned)
            read = create("llvm.insertelement", vector, read, loaded, index)
        else:
            stored = create("llvm.extractelement", type_, op.operands[0], index)
            ir.Operation.create("llvm.store", operands=[stored, pointer], attributes={"alignment": aligned})
    if op.name == "llvm.load":
        replace(op, read)
    else:
        op.erase()


def _behind(address: ir.Value, type_: ir.Type, count: int) -> ir.Value:
    """The address of `count` numbers of that type behind `address`."""
    by = ir.DenseI32ArrayAttr.get([count])
    return create("llvm.getelementptr", address.type, address, elem_type=ir.TypeAttr.get(type_), rawConstantIndices=by)

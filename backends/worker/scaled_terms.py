"""Sums of terms that are scaled by one constant: IREE takes them for products of matrices, and then refuses them."""

from iree.compiler import ir

from dovetail.backends.worker.walk import create, producer, walk


def part_from_sums(kernel: ir.Operation) -> None:
    """Puts between each product by a constant and the sum that takes it what gives that product back, bit by bit."""
    reductions = (op for op in walk(kernel) if "reduction" in str(op.attributes.get("iterator_types", "")))
    for op in [op for reduction in reductions for op in walk(reduction) if op.name == "arith.addf"]:
        for index, term in enumerate(op.operands):
            if not _is_scaled(term):
                continue
            with op.location, ir.InsertionPoint(op):
                op.operands[index] = create("math.copysign", term.type, term, term)


def _is_scaled(term: ir.Value) -> bool:
    product = producer(term)
    if product is None or product.name != "arith.mulf":
        return False
    return any((made := producer(factor)) is not None and made.name == "arith.constant" for factor in product.operands)

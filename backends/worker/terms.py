"""What a loop that reduces takes together, and loops that take together several of its terms before one is widened."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import linalg

from dovetail.backends.worker.walk import clone, create, producer

_ADD = "arith.addf"
_EXTREMA = ("arith.maximumf", "arith.minimumf")
PARTS = 8
"""Terms of float32 that are taken together."""


@dataclass(frozen=True)
class Terms:
    """How a loop takes numbers of float32 together: by the op `name`; a sum is of float64 and widens each `term`."""

    name: str
    term: ir.Value
    is_widened: bool

    def fill(self, made: ir.Operation, op: ir.Operation, counts: Sequence[int]) -> None:
        """Has `made` take a term of each part, computed as by `op`; an operand has one value for all parts, or each."""
        block, source = made.regions[0].blocks[0], op.regions[0].blocks[0]
        *_, total = block.arguments
        at = ir.InsertionPoint(block)

        def of(part: int) -> ir.Value:
            taken: Iterator[ir.Value] = iter(block.arguments)
            values = {}
            for argument, count in zip(source.arguments, [*counts, 1], strict=True):
                values[argument] = [next(taken) for _ in range(count)][min(part, count - 1)]
            *computing, _ = (each.operation for each in source.operations)
            for each in computing[: -2 if self.is_widened else -1]:
                clone(each, values, at)
            return values.get(self.term, self.term)

        terms = [of(part) for part in range(PARTS)]
        with at:
            while len(terms) > 1:
                pairs = zip(terms[::2], terms[1::2], strict=True)
                terms = [create(self.name, one.type, one, other) for one, other in pairs]
            [term] = terms
            widened = create("arith.extf", total.type, term) if self.is_widened else term
            linalg.YieldOp([create(self.name, total.type, widened, total)])

    def fill_with_two(self, made: ir.Operation) -> None:
        """Has `made` take its first two numbers together."""
        block = made.regions[0].blocks[0]
        with ir.InsertionPoint(block):
            linalg.YieldOp([create(self.name, block.arguments[0].type, *list(block.arguments)[:2])])


def read_terms(op: ir.Operation, most: int) -> Terms | None:
    """What `op`, a loop that reduces, takes together, of at most so many operations each; None if it is another form.

    A sum starts from 0, and widens terms of float32: those of half precision are widened at once, too, and must not be
    added up.
    """
    body = op.regions[0].blocks[0]
    *computed, yielded = (each.operation for each in body.operations)
    combined = producer(yielded.operands[0])
    total = body.arguments[len(op.operands) - 1]
    if len(op.results) != 1 or len(computed) > most + 2 or combined is None or combined != computed[-1]:
        return None
    others = [value for value in combined.operands if value != total]
    if len(others) != 1 or len(list(total.uses)) != 1:
        return None
    [term] = others
    if combined.name in _EXTREMA:
        return Terms(combined.name, term, False) if str(total.type) == "f32" else None
    made = producer(term)
    if combined.name != _ADD or not _starts_from_zero(op) or made is None or made.name != "arith.extf":
        return None
    types = (str(made.operands[0].type), str(total.type))
    return Terms(_ADD, made.operands[0], True) if types == ("f32", "f64") and made == computed[-2] else None


def _starts_from_zero(op: ir.Operation) -> bool:
    start = producer(op.operands[len(op.operands) - 1])
    zero = producer(start.operands[0]) if start is not None and start.name == "linalg.fill" else None
    return zero is not None and ir.FloatAttr(zero.attributes["value"]).value == 0


def loops(
    inputs: Sequence[ir.Value], out: ir.Value, maps: Sequence[ir.AffineMap], kinds: Sequence[str]
) -> ir.Operation:
    """Loops without a body, each of one of `kinds`, parallel or reduction."""
    attributes = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
    iterators = ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kind}>") for kind in kinds])
    made = linalg.GenericOp([out.type], inputs, [out], attributes, iterators)
    made.regions[0].blocks.append(*(ir.ShapedType(value.type).element_type for value in (*inputs, out)))
    return made.operation


def index(number: int) -> ir.Value:
    """A number of type `index`."""
    type_ = ir.IndexType.get()
    return create("arith.constant", type_, value=ir.IntegerAttr.get(type_, number))

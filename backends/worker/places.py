"""Where accesses of kernels in the LLVM dialect lie: how far from each other, and how they are aligned."""

from dataclasses import dataclass

from iree.compiler import ir

from dovetail.backends.worker.largest import WHOLE, integer, largest
from dovetail.backends.worker.walk import producer

_MOST = 16
"""Bytes to which alignment matters: of the largest access."""
_KEEPS_LOW_BITS = ("llvm.zext", "llvm.sext", "llvm.trunc")
_Term = tuple[str, ir.Value]
"""A number, and how one of 32 bits is widened; "" where it is not."""


@dataclass(frozen=True)
class Place:
    """An address or an index: the sum of `terms`, each so many times, and of `rest`."""

    terms: dict[_Term, int]
    rest: int = 0

    def plus(self, other: "Place", times: int = 1) -> "Place":
        """The sum with so many times `other`."""
        terms = dict(self.terms)
        for term, count in other.terms.items():
            terms[term] = terms.get(term, 0) + times * count
        return Place({term: count for term, count in terms.items() if count}, self.rest + times * other.rest)

    def alignment(self, behind: int) -> int:
        """The largest power of two, at most 16, that surely divides what lies `behind` bytes behind it."""
        parts = [self.rest + behind, *(count * _divisor(value) for (_, value), count in self.terms.items())]
        return min(_power(part) for part in parts)


def place(value: ir.Value) -> Place:
    """Where `value`, an address or a number of 64 bits, lies. Two of the same terms have a known distance."""
    op = producer(value)
    if op is None:
        return Place({("", value): 1})
    if (number := integer(value)) is not None:
        return Place({}, number)
    if op.name == "llvm.add":
        return place(op.operands[0]).plus(place(op.operands[1]))
    if op.name == "llvm.mul" and (times := integer(op.operands[1])) is not None:
        return Place({}).plus(place(op.operands[0]), times)
    if op.name == "llvm.getelementptr" and (moved := _moved(op)):
        return place(op.operands[0]).plus(place(op.operands[1]), moved)
    if op.name in ("llvm.zext", "llvm.sext"):
        return _widened(op.name, op.operands[0])
    return Place({("", value): 1})


def _moved(pointer: ir.Operation) -> int:
    """The bytes of each number that a pointer is moved by, as many as one operand of 64 bits says; 0 if by others."""
    type_ = pointer.attributes["elem_type"].value
    is_plain = len(pointer.operands) == 2 and ir.IntegerType.get_signless(64) == pointer.operands[1].type
    return type_.width // 8 if is_plain and isinstance(type_, ir.IntegerType | ir.FloatType) else 0


def _widened(way: str, narrow: ir.Value) -> Place:
    """An index of 32 bits as one of 64, which IREE widens without its sign where it has none.

    A widened sum is the sum of what is widened where it stays a number of 32 bits: with a sign where it says so,
    without one where both are small enough. -1 and 1 are 0, but 2 ** 32 where they are widened without a sign.
    """
    op = producer(narrow)
    added = integer(op.operands[1]) if op is not None and op.name == "llvm.add" else None
    if op is None or added is None or not _stays_narrow(op, way, added):
        return Place({(way, narrow): 1})
    return Place({(way, op.operands[0]): 1}, added)


def _stays_narrow(op: ir.Operation, way: str, added: int) -> bool:
    if way == "llvm.sext":
        # That a sum does not overflow is no attribute of the bindings: only its text says it.
        return "overflow<nsw" in str(op)
    most = largest(op.operands[0])
    return most is not None and 0 <= added < WHOLE - most


def _divisor(value: ir.Value) -> int:
    """A power of two that surely divides `value`, an address or a number of any width."""
    op = producer(value)
    if op is None:
        return _of_argument(value)
    if (number := integer(value)) is not None:
        return _power(number)
    if op.name == "llvm.add":
        return min(map(_divisor, op.operands))
    if op.name == "llvm.mul":
        return min(_MOST, _divisor(op.operands[0]) * _divisor(op.operands[1]))
    return _divisor(op.operands[0]) if op.name in _KEEPS_LOW_BITS else 1


def _of_argument(value: ir.Value) -> int:
    """As IREE states it of a kernel's arguments, and launches check."""
    block, number = value.owner, ir.BlockArgument(value).arg_number
    kernel = block.owner
    stated = kernel.attributes["arg_attrs"][number] if block == kernel.regions[0].blocks[0] else {}
    return _power(stated["llvm.align"].value) if "llvm.align" in stated else 1


def _power(number: int) -> int:
    return min(_MOST, number & -number) if number else _MOST

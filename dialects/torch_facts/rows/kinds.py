"""What IREE must not be given of any op of a kind, but for ops whose rows except them."""

from dataclasses import dataclass

from dovetail.dialects.torch_facts.element_types import EVERY, FLOATS, NARROW_INTEGERS
from dovetail.dialects.torch_facts.refused import DecidedBy, Refused, When
from dovetail.dialects.torch_facts.row import Kind, Row


@dataclass(frozen=True)
class OfKinds:
    """One such thing.

    Attributes:
        refused: what.
        kinds: of ops of which kinds.
        excepted: the field of a row that says that its op is none of them; "" if none does.
    """

    refused: Refused
    kinds: tuple[Kind, ...]
    excepted: str = ""

    def is_of(self, row: Row) -> bool:
        """Whether it is to be asked of the op of `row`."""
        return row.kind in self.kinds and not (self.excepted and getattr(row, self.excepted))


_COMPUTING = (Kind.POINTWISE, Kind.REDUCTION)

_PROMOTES = Refused(
    "uint8 is taken for a signed number where it becomes another type",
    ("uint8",),
    decided_by=DecidedBy.OPERANDS,
    into=tuple(dtype for dtype in EVERY if dtype not in ("uint8", "bool")),
)
_NUMBERS = Refused("reductions of 0-dim tensors do not compile", when=When.WITHOUT_DIMENSIONS)
_BYTES = Refused("uint8 is taken for a signed number", ("uint8",))
_SATURATES = Refused(
    "saturates where the machine's packing does", FLOATS, decided_by=DecidedBy.FIRST, into=NARROW_INTEGERS
)

OF_KINDS = (
    OfKinds(_PROMOTES, tuple(Kind), excepted="converts"),
    OfKinds(_NUMBERS, (Kind.REDUCTION,)),
    OfKinds(_BYTES, _COMPUTING, excepted="knows_uint8"),
    OfKinds(_SATURATES, _COMPUTING),
)
"""The first that holds is the one that users read."""

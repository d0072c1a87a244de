"""What IREE must not be given: the type of the records in rows, and whether one holds of an op's tensors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from dovetail.dialects.torch_facts.types import TensorInfo

Tensors = Sequence[TensorInfo | None]
"""An op's operands and results, None for what is no tensor."""


class DecidedBy(Enum):
    """Whose element types decide whether IREE is refused an op."""

    ANY = "any"  # any operand's or result's
    FIRST = "first"  # the first operand's, of what compares: the result is always bool
    OPERANDS = "operands"  # any operand's
    RESULT = "result"


class When(Enum):
    """What else has to be so, besides element types."""

    ALWAYS = "always"
    FOLDED = "folded"  # the op computes with constants, which IREE folds while it compiles
    TOO_FAR = "too far"  # the op shifts by what may be less than 0, or all bits
    OF_TWO_TYPES = "of two types"  # operands differ in their element types
    WITHOUT_DIMENSIONS = "without dimensions"  # the first operand is a number
    SHRINKING = "shrinking"  # the result is shorter than the first operand along a dimension
    LONE_WINDOW = "lone window"  # the result has one window alone along a dimension, and not all that is there


@dataclass(frozen=True)
class Refused:
    """What must not be handed to IREE, which compiles it to wrong numbers or not at all. `make sweep` measures it.

    Attributes:
        reason: why, as `dovetail.stats()` says it to users.
        dtypes: the element types on which; () on all.
        overloads: the overloads of which; () of all.
        decided_by: whose element types.
        into: the element types of the result for which; () for all.
        when: what else has to be so.
        devices: the types of device on which. What was found on one is taken to hold on the others until measured.
    """

    reason: str
    dtypes: tuple[str, ...] = ()
    overloads: tuple[str, ...] = ()
    decided_by: DecidedBy = DecidedBy.ANY
    into: tuple[str, ...] = ()
    when: When = When.ALWAYS
    devices: tuple[str, ...] = ("cpu", "cuda")

    def holds(self, name: str, tensors: Tensors, device: str) -> bool:
        """Whether it is so of the overload `name` on `tensors`. Of single ops the caller sees more.

        That constants are folded, and how far the op shifts.
        """
        if device not in self.devices or (self.overloads and name.rpartition(".")[2] not in self.overloads):
            return False
        if self.into and dtypes_of(tensors[-1:]).isdisjoint(self.into):
            return False
        if self.dtypes and dtypes_of(_DECIDING[self.decided_by](tensors)).isdisjoint(self.dtypes):
            return False
        return _HOLDS[self.when](tensors)


def dtypes_of(tensors: Tensors) -> set[str]:
    """Their element types."""
    return {info.dtype for info in tensors if info is not None}


def _shrinks(tensors: Tensors) -> bool:
    value, result = tensors[0], tensors[-1]
    if value is None or result is None:
        return False
    return any(after < before for before, after in zip(value.shape, result.shape, strict=True))


def _is_lone_window(tensors: Tensors) -> bool:
    """Of an op that shows windows: their number stands where the length of the dimension did, their size behind all."""
    source, windows = tensors[0], tensors[-1]
    if source is None or windows is None:
        return True
    *counts, size = windows.shape
    return any(count == 1 and length not in (1, size) for length, count in zip(source.shape, counts, strict=False))


_DECIDING: dict[DecidedBy, Callable[[Tensors], Tensors]] = {
    DecidedBy.ANY: lambda tensors: tensors,
    DecidedBy.FIRST: lambda tensors: tensors[:1],
    DecidedBy.OPERANDS: lambda tensors: tensors[:-1],
    DecidedBy.RESULT: lambda tensors: tensors[-1:],
}
_HOLDS: dict[When, Callable[[Tensors], bool]] = {
    When.ALWAYS: lambda tensors: True,
    When.FOLDED: lambda tensors: True,
    When.TOO_FAR: lambda tensors: True,
    When.OF_TWO_TYPES: lambda tensors: len(dtypes_of(tensors[:-1])) > 1,
    When.WITHOUT_DIMENSIONS: lambda tensors: tensors[0] is not None and tensors[0].shape == (),
    When.SHRINKING: _shrinks,
    When.LONE_WINDOW: _is_lone_window,
}

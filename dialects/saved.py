"""What the IR says of saved values: the results of `@forward`, after the owned ones, that `@backward` takes first.

`partition` says which are checked, `state-border` says the rest. What is not said is taken for the worst.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import CHECKED_FOR, IN_ARGUMENT, IN_RESULT, RESULT, SAVED, TANGENT_OF, USES
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import Facts, argument_facts, numbers, result_facts


@dataclass(frozen=True)
class SavedValue:
    """What is said of one saved value, by the attributes' names. None, and "" for `saved`, where nothing is."""

    saved: str = ""
    result: int | None = None
    in_result: int | None = None
    in_argument: int | None = None
    checked_for: frozenset[int] | None = None
    uses: frozenset[int] | None = None

    @property
    def is_checked(self) -> bool:
        """Whether the user can reach its memory."""
        return self.saved == "checked"

    @property
    def on_result(self) -> dict[str, ir.Attribute | None]:
        """What stands on the result of `@forward`."""
        return {
            SAVED: ir.StringAttr.get(self.saved) if self.saved else None,
            RESULT: _integer(self.result),
            IN_RESULT: _integer(self.in_result),
            IN_ARGUMENT: _integer(self.in_argument),
            CHECKED_FOR: _array(self.checked_for),
        }

    @property
    def on_argument(self) -> dict[str, ir.Attribute | None]:
        """What stands on the argument of `@backward`."""
        return {USES: _array(self.uses)}


def saved_values(forward: func.FuncOp, backward: func.FuncOp) -> list[SavedValue]:
    """The saved values of a border, in order."""
    stated = [each for each in result_facts(forward) if SAVED in each]
    taken = argument_facts(backward)[: len(stated)]
    return [
        SavedValue(
            ir.StringAttr(facts[SAVED]).value,
            _number(facts, RESULT),
            _number(facts, IN_RESULT),
            _number(facts, IN_ARGUMENT),
            _numbers(facts, CHECKED_FOR),
            _numbers(argument, USES),
        )
        for facts, argument in zip(stated, taken, strict=True)
    ]


def checked_results(forward: func.FuncOp) -> dict[int, frozenset[int]]:
    """The owned results in whose memory a checked value lies, with the results for which they must be unchanged."""
    owned = [each for each in result_facts(forward) if SAVED not in each]
    found = {number: _numbers(each, CHECKED_FOR) for number, each in enumerate(owned)}
    return {number: results for number, results in found.items() if results is not None}


def tangent_results(backward: func.FuncOp) -> list[int]:
    """The owned results whose gradients `backward` takes, in order."""
    return [ir.IntegerAttr(each[TANGENT_OF]).value for each in argument_facts(backward) if TANGENT_OF in each]


def _number(facts: Facts, name: str) -> int | None:
    return ir.IntegerAttr(facts[name]).value if name in facts else None


def _numbers(facts: Facts, name: str) -> frozenset[int] | None:
    stated = numbers(facts, name)
    return None if stated is None else frozenset(stated)


def _integer(number: int | None) -> ir.Attribute | None:
    return None if number is None else i64(number)


def _array(of: Iterable[int] | None) -> ir.Attribute | None:
    return None if of is None else ir.DenseI64ArrayAttr.get(sorted(of))

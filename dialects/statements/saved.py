"""What the IR says of saved values: the results of `@forward`, after the owned ones, that `@backward` takes first.

`partition` says which are checked, `state-border` whose memory they are and who needs them, `state-replay` which a
replay takes. What is not said is taken for the worst.
"""

from dataclasses import dataclass
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import (
    CHECKED_FOR,
    FOR_REPLAY,
    IN_ARGUMENT,
    IN_RESULT,
    RESULT,
    SAVED,
    TANGENT_OF,
    USES,
    VALUE_OF,
)
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import Facts, argument_facts, result_facts
from dovetail.dialects.statements.stated import named

_ON_RESULT = (SAVED, RESULT, IN_RESULT, IN_ARGUMENT, CHECKED_FOR)


@dataclass(frozen=True)
class SavedValue:
    """What is said of one saved value, by the attributes' names. None, and "" for `saved`, where nothing is."""

    saved: str = ""
    result: int | None = None
    in_result: int | None = None
    in_argument: int | None = None
    checked_for: frozenset[int] | None = None
    uses: frozenset[int] | None = None
    for_replay: bool = False
    value_of: int | None = None

    @property
    def is_checked(self) -> bool:
        """Whether the user can reach its memory."""
        return self.saved == "checked"

    @property
    def is_sum(self) -> bool:
        """Whether a replay takes it as a sum, to which it gives the history of one, if its type is differentiable."""
        return self.for_replay and not self.is_checked and self.value_of is None

    @property
    def is_made(self) -> bool:
        """Whether it lies in memory that the forward made."""
        return not self.is_checked or self.result is not None or self.in_result is not None

    @property
    def on_result(self) -> dict[str, ir.Attribute | None]:
        """What stands on the result of `@forward`."""
        said = (self.saved, self.result, self.in_result, self.in_argument, self.checked_for)
        return dict(zip(_ON_RESULT, map(_attribute, said), strict=True))

    @property
    def on_argument(self) -> dict[str, ir.Attribute | None]:
        """What stands on the argument of `@backward`."""
        return {USES: _attribute(self.uses)}


def saved_values(forward: func.FuncOp, backward: func.FuncOp) -> list[SavedValue]:
    """The saved values of a border, in order."""
    stated = [each for each in result_facts(forward) if SAVED in each]
    taken = argument_facts(backward)[: len(stated)]
    return [
        SavedValue(
            **{name.partition(".")[2]: _said(facts, name) for name in (*_ON_RESULT, VALUE_OF)},
            uses=_said(argument, USES),
            for_replay=FOR_REPLAY in facts,
        )
        for facts, argument in zip(stated, taken, strict=True)
    ]


def checked_results(forward: func.FuncOp) -> dict[int, frozenset[int]]:
    """The owned results in whose memory a checked value lies, with the results for which they must be unchanged."""
    owned = [facts for facts in result_facts(forward) if SAVED not in facts]
    found = {number: _said(own, CHECKED_FOR) for number, own in enumerate(owned)}
    return {number: results for number, results in found.items() if results is not None}


def tangent_results(function_op: func.FuncOp) -> list[int]:
    """The owned results whose gradients `@backward` or `@layouts` takes, in order."""
    return [ir.IntegerAttr(facts[TANGENT_OF]).value for facts in argument_facts(function_op) if TANGENT_OF in facts]


def _said(facts: Facts, name: str) -> Any:
    """The word, the number or the set of numbers that `name` has among `facts`, None without."""
    stated: Any = named(facts, name)
    return frozenset(stated) if isinstance(stated, ir.DenseI64ArrayAttr) else stated and stated.value


def _attribute(said: str | int | frozenset[int] | None) -> ir.Attribute | None:
    match said:
        case None | "":
            return None
        case str():
            return ir.StringAttr.get(said)
        case int():
            return i64(said)
    return ir.DenseI64ArrayAttr.get(sorted(said))

"""What `verify-level` asks of saved values: that enough is said of them, and nothing that is not so."""

from collections.abc import Iterator, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, CHECKED_FOR, FORWARD, IN_ARGUMENT, IN_RESULT, RESULT, USES
from dovetail.dialects.reading import Module, argument_facts, referred, result_facts
from dovetail.dialects.statements.saved import SavedValue, checked_results, saved_values
from dovetail.passes.base import fail
from dovetail.passes.border.memory_of_saved import MemoryOfSaved

_WHERE = (RESULT, IN_RESULT, IN_ARGUMENT)


def check_saved_values(border: func.FuncOp, module: Module, is_stated: bool) -> None:
    """Raises PassError where a backward would miss that memory changed or was freed, or take one value for another.

    `border` has passed `check_border`. Unless it `is_stated`, nothing may be said yet. More may be said than is true:
    what a region computes has memory of its own, though its value is a view.
    """
    forward, backward = (module.functions[referred(border, each)] for each in (FORWARD, BACKWARD))
    owned, arguments = len(border.type.results), len(border.type.inputs)
    limits = {RESULT: owned, IN_RESULT: owned, IN_ARGUMENT: arguments, CHECKED_FOR: owned, USES: owned}
    is_said = False
    for op, what, facts in (
        *((forward, f"result {number}", each) for number, each in enumerate(result_facts(forward))),
        *((backward, f"argument {number}", each) for number, each in enumerate(argument_facts(backward))),
    ):
        for name in (each for each in limits if each in facts):
            is_said = True
            _check_form(op, f"'{name}' of {what}", facts[name], name in _WHERE, limits[name])
    if is_said or is_stated:
        memory = MemoryOfSaved(border, module)
        said = {number: SavedValue(checked_for=each) for number, each in checked_results(forward).items()}
        said |= enumerate(saved_values(forward, backward), owned)
        for number, true in memory.facts().items():
            stated = said.get(number, SavedValue())
            reached = memory.where(memory.returned[number]) if stated.saved == "private" else true
            for problem in _problems(stated, true, reached):
                raise fail(forward, f"expects result {number} {problem}")


def _check_form(op: func.FuncOp, what: str, stated: ir.Attribute, is_number: bool, limit: int) -> None:
    if is_number and isinstance(stated, ir.IntegerAttr) and 0 <= stated.value < limit:
        return
    if not is_number and isinstance(stated, ir.DenseI64ArrayAttr) and all(0 <= number < limit for number in stated):
        return
    expected = f"a number below {limit}" if is_number else f"an array of numbers below {limit}"
    raise fail(op, f"expects {what} to be {expected}, got {stated}")


def _problems(said: SavedValue, true: SavedValue, reached: SavedValue) -> Iterator[str]:
    """What is wrong with what is `said` of a result of `@forward`; `reached` is where it lies, were it checked."""
    indices = _positions(said)
    if len(indices) != said.is_checked:
        yield f"to say {'one' if said.is_checked else 'none'} of {', '.join(_WHERE)}, got {_listed(indices)}"
    if said.saved == "private" and reached.is_checked:
        yield f"to be checked, as the user can reach its memory: {_listed(_positions(reached))}"
    if said.is_checked and (_positions(true) or RESULT in indices) and indices != _positions(true):
        yield f"to say {_listed(_positions(true))}, got {_listed(indices)}"
    for name, needed, stated in ((CHECKED_FOR, true.checked_for, said.checked_for), (USES, true.uses, said.uses)):
        if needed and not needed <= (stated or set()):
            yield f"to say '{name}' of {sorted(needed)} at least, got {sorted(stated) if stated else 'none'}"


def _positions(said: SavedValue) -> dict[str, int]:
    stated = zip(_WHERE, (said.result, said.in_result, said.in_argument), strict=True)
    return {name: number for name, number in stated if number is not None}


def _listed(indices: Mapping[str, int]) -> str:
    return " and ".join(f"{name} = {number}" for name, number in indices.items()) or "none"

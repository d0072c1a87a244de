"""What `verify-level` asks of a border's replay: that a call leaves all that it takes, or that it says why not."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, DRAWS, FOR_HISTORY, FOR_REPLAY, FORWARD, ONCE, VALUE_OF
from dovetail.dialects.reading import Module, argument_facts, attribute, referred
from dovetail.dialects.statements.saved import saved_values
from dovetail.passes.base import fail
from dovetail.passes.border.replayed_values import replayed


def check_replay(border: func.FuncOp, module: Module) -> None:
    """Raises PassError where a replay would take what no call leaves, or take for an argument's value what is not."""
    if ONCE in border.attributes:
        return
    for problem in _problems(border, module):
        raise fail(border, f"expects {problem}, as a replay of its gradient takes it, or '{ONCE}'")


def _problems(border: func.FuncOp, module: Module) -> Iterator[str]:
    takes = replayed(border, module)
    facts, draws = argument_facts(border), attribute(border, DRAWS)
    expected = ir.ArrayAttr.get([ir.StringAttr.get(device, border.context) for device in takes.draws], border.context)
    if takes.draws and str(draws) != str(expected):
        yield f"'{DRAWS}' to be {expected}"
    for number in takes.arguments:
        if FOR_REPLAY not in facts[number]:
            yield f"argument {number} to say '{FOR_REPLAY}'"
    for number in takes.histories:
        if FOR_HISTORY not in facts[number]:
            yield f"argument {number} to say '{FOR_HISTORY}'"
    saved = saved_values(*(module.functions[referred(border, name)] for name in (FORWARD, BACKWARD)))
    for number, argument in takes.saved.items():
        if not saved[number].for_replay or saved[number].value_of != argument:
            expected = f"'{FOR_REPLAY}'" if argument is None else f"'{FOR_REPLAY}' and '{VALUE_OF}' = {argument}"
            yield f"saved value {number} to say {expected}"

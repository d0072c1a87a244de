"""Reads from the IR what CUDA graphs need: which arguments stay where they are, and what can't be recorded.

`state-recordable` says both. Which regions launch, only who loads them knows.
"""

from collections.abc import Callable, Collection, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, NOT_RECORDABLE, STAYS
from dovetail.dialects.reading import Module, Role, argument_facts, body, referred, symbol
from dovetail.dialects.statements.effects import Effect, effect
from dovetail.dialects.statements.saved import saved_values
from dovetail.dialects.statements.stated import stated
from dovetail.runtime.cuda.recorded import Recordable, Recorded


def recorded_halves(found: Module, runs: Mapping[str, Callable], compiled: Collection[str]) -> dict[str, Recorded]:
    """What replays each of `runs`, the forwards and backwards of a module, by symbol; `compiled` regions launch."""
    made: dict[str, Recorded] = {}
    borders = {referred(op, FORWARD): op for op in found.borders.values()}
    for name, forward in found.of(Role.FORWARD).items():
        facts = recordable_forward(forward, compiled)
        made[name] = Recorded(runs[name], facts)
        if name in borders:
            backward = found.functions[referred(borders[name], BACKWARD)]
            of_backward = recordable_backward(forward, facts, backward, compiled)
            made[symbol(backward)] = Recorded(runs[symbol(backward)], of_backward, made[name])
    return made


def recordable_forward(forward: func.FuncOp, compiled: Collection[str]) -> Recordable:
    """What is said of `forward`."""
    return Recordable(symbol(forward), _refusal(forward, compiled), _stays(forward), draws=_draws(forward))


def recordable_backward(
    forward: func.FuncOp, of_forward: Recordable, backward: func.FuncOp, compiled: Collection[str]
) -> Recordable:
    """What is said of `backward`, which takes what `forward` made."""
    why_not = _refusal(backward, compiled)
    if of_forward.refusal:
        why_not = why_not or f"@{of_forward.name} can't be either"
    made = tuple(number for number, value in enumerate(saved_values(forward, backward)) if value.is_made)
    return Recordable(symbol(backward), why_not, _stays(backward), made, _draws(backward))


def _stays(half: func.FuncOp) -> tuple[bool, ...]:
    return tuple(STAYS in facts for facts in argument_facts(half))


def _draws(half: func.FuncOp) -> bool:
    return any(effect(op) is Effect.DRAWS for op in body(half))


def _refusal(half: func.FuncOp, compiled: Collection[str]) -> str:
    """Why no graph can stand for `half`, with the line of the user's that is at fault; "" if one can."""
    for op in body(half):
        if NOT_RECORDABLE in op.attributes:
            return f"{op.location}: {stated(op, NOT_RECORDABLE, ir.StringAttr)}"
        if isinstance(op.opview, func.CallOp) and referred(op, "callee") not in compiled:
            return f"{op.location}: @{referred(op, 'callee')} runs on the host"
    return ""

"""Pass `state-replay`: says what a replay of a gradient takes, for whoever differentiates it, or why there is none."""

from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, DRAWS, FOR_HISTORY, FOR_REPLAY, FORWARD, ONCE, VALUE_OF
from dovetail.dialects.building.cloning import state_facts
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import SetMetadataOp, WriteOp
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.memory.aliases import with_aliases
from dovetail.dialects.memory.argument_names import argument_name
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, body, of_class, referred
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.effects import has_effect
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.passes.base import Pass
from dovetail.passes.border.replayed_values import Replayed, replayed


class StateReplayPass(Pass, name="state-replay"):
    """Says what a gradient is computed from that is differentiated in turn, under autograd.

    What such a replay takes as the call left it says `dovetail.for_replay`, of the arguments of `@apply` and of saved
    values. All else it computes again. Of what is only added to a saved sum it takes no more than the history:
    `dovetail.for_history`. It can't where an argument that it takes is changed by the call, or an op has an
    effect, a branch or a loop: then `dovetail.once` says so.

    Before:  `@apply(!r)`, `@forward(!r) -> (!r, !v {dovetail.saved = "private"})`
    After:   `@apply(!r {dovetail.for_replay})`, with a private saved value that is computed again
    """

    def run(self, module: ir.Module) -> None:
        found = Module(module)
        for name, border in found.borders.items():
            if ONCE in border.attributes:
                continue
            takes = replayed(border, found)
            reason = _refusal(border, found, found.calls().get(name, []), takes)
            with module.context:
                if reason:
                    border.attributes[ONCE] = ir.StringAttr.get(reason)
                else:
                    _state(border, found, takes)


def _state(border: func.FuncOp, module: Module, takes: Replayed) -> None:
    forward, owned = module.functions[referred(border, FORWARD)], len(border.type.results)
    unit = ir.UnitAttr.get()
    arguments = {number: {FOR_REPLAY: unit} for number in takes.arguments}
    arguments |= {number: {FOR_HISTORY: unit} for number in takes.histories}
    state_facts(border, "arg_attrs", arguments)
    saved = {
        owned + number: {FOR_REPLAY: unit, VALUE_OF: None if argument is None else i64(argument)}
        for number, argument in takes.saved.items()
    }
    state_facts(forward, "res_attrs", saved)
    if takes.draws:
        border.attributes[DRAWS] = ir.ArrayAttr.get(list(map(ir.StringAttr.get, takes.draws)))


def _refusal(border: func.FuncOp, module: Module, calls: Iterable[func.CallOp], takes: Replayed) -> str:
    """Why the gradient can't be computed again; "" if it can."""
    for call in calls:
        # What stands in for it would have a history, too, and a write that autograd does not see breaks that off.
        for number in sorted(_changed(call).intersection([*takes.arguments, *takes.histories])):
            name = argument_name(call.operands[number]) or number
            return f"it depends on what argument {name} held before the function changed it"
    if (op := takes.refused) is not None:
        if control_flow_name(op):
            return f"'{control_flow_name(op)}' runs a branch or a loop ({op.location}), not supported there"
        return f"'{aten_name(op)}' mutates memory ({op.location}), so it can't run again"
    for op in body(module.functions[referred(border, BACKWARD)]):
        if is_extern(op) and has_effect(op):
            return f"'{aten_name(op)}' in the backward has an effect ({op.location})"
    return ""


def _changed(call: func.CallOp) -> set[int]:
    """Positions of the call's arguments whose memory or sizes the caller changes."""
    caller = call.operation.parent.opview
    changing = of_class(body(caller), WriteOp, SetMetadataOp)
    changed = with_aliases(caller, {memory_root(op.opview.ref) for op in changing})
    return {index for index, value in enumerate(call.operands) if memory_root(value) in changed}

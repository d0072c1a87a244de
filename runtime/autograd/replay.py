"""The gradient of a compiled function as a differentiable one: what runs when a backward is itself differentiated.

`@forward` and `@backward` become one function of the arguments and the tangents, with regions inlined and without what
no gradient depends on. It runs op by op through ATen under autograd, so its results have a history like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.attributes import NAME
from dovetail.dialects.calls import is_extern
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.devices import Devices
from dovetail.dialects.dovetail import SetMetadataOp, WriteOp
from dovetail.dialects.layouts import layouts_of
from dovetail.dialects.memory.aliases import with_aliases
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, argument_facts, arguments, body
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.runtime.autograd.effects import has_effect, is_random, mutates
from dovetail.runtime.autograd.joined import Joined
from dovetail.runtime.random_states import drawing_from, random_state


class StandIn(torch.autograd.Function):
    """Stands in for a tensor that is about to be overwritten: its shape, dtype and history, one element of memory."""

    @staticmethod
    def forward(ctx, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.new_zeros(()).expand(tensor.shape)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class WithHistory(torch.autograd.Function):
    """A copy of `value` whose gradient goes where `stand_in`'s does."""

    @staticmethod
    def forward(ctx, stand_in: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return value.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


@dataclass(frozen=True)
class Start:
    """What a replay must know of a call: the states before it of the generators that it draws from, by their devices.

    `stand_ins` are those of arguments in autograd's graph before they were mutated.
    """

    random_states: Mapping[str, torch.Tensor]
    stand_ins: list[torch.Tensor]


class Replay:
    """The differentiable gradient of one border, read from the IR.

    Attributes:
        arguments: positions of the arguments that it takes as they are, in order: no saved value holds them.
        saved: numbers of the saved values that it takes rather than computes: those with a history of their own
            (arguments, differentiable results), those that need none (integers), and what a mutated argument held.
        histories: of those, by number, the mutated argument whose history the saved value lacks.
        draws: the devices on which it draws random numbers; they must be those that the forward drew.
        refusal: why the gradient can't be computed again, None if it can.
        names: the user's name for each argument.
    """

    def __init__(self, call: func.CallOp, forward: func.FuncOp, backward: func.FuncOp, module: Module):
        joined = Joined(forward, backward, module)
        self._joined, self._has_layouts = joined, layouts_of(module) is not None
        self.arguments = tuple(index for index, value in enumerate(joined.arguments) if joined.uses(value))
        self.saved = tuple(number for number, value in joined.taken.items() if joined.uses(value))
        self.histories = {number: joined.copied[number] for number in self.saved if number in joined.copied}
        self.names = _names(call)
        self.draws = _drawing(forward) if any(is_random(op) for op in joined.ops()) else ()
        self.refusal = self._refusal(call, backward)
        self._loaded: dict[frozenset[int], Callable] = {}
        joined.keep(self.saved)

    def _refusal(self, call: func.CallOp, backward: func.FuncOp) -> str | None:
        written = _written(call)
        for index in self.arguments:
            if index in written:
                return f"it depends on what argument {self.names[index]} held before the function changed it"
        for op in self._joined.ops():
            if control_flow_name(op):
                return f"'{control_flow_name(op)}' runs a branch or a loop ({op.location}), not supported there"
            if mutates(op):
                return f"'{aten_name(op)}' mutates memory ({op.location}), so it can't run again"
        for op in body(backward):
            if is_extern(op) and has_effect(op):
                return f"'{aten_name(op)}' in the backward has an effect ({op.location})"
        return None

    def start(self, arguments: Sequence) -> "Start":
        """What must be noted before a call runs."""
        stand_ins: list[torch.Tensor] = []
        if self.histories:
            with torch.enable_grad():
                stand_ins = [StandIn.apply(arguments[index]) for index in self.histories.values()]
        return Start({device: random_state(device) for device in self.draws}, stand_ins)

    def __call__(
        self,
        start: "Start",
        arguments: list,
        tangents: list,
        absent: frozenset[int],
        saved: Mapping[int, torch.Tensor],
        told: tuple,
    ) -> tuple:
        """Returns a gradient (or None) for each argument, differentiable in arguments and tangents.

        `arguments` holds None for those that are not in `self.arguments`, `tangents` zeros for those that are `absent`,
        by number; `saved` has what `self.saved` names. `told` is what the border tells.
        """
        if absent not in self._loaded:
            function_op = self._joined.function(absent)
            self._loaded[absent] = Emitter(function_op, {}, has_layouts=self._has_layouts).emit().load()
        gradient = self._loaded[absent]
        values = dict(saved)
        for number, stand_in in zip(self.histories, start.stand_ins, strict=True):
            values[number] = WithHistory.apply(stand_in, values[number])
        everything = [*arguments, *tangents, *values.values()]
        with torch._C._DisableAutocast():
            if not start.random_states:
                return gradient(everything, *told)
            with drawing_from(start.random_states):
                return gradient(everything, *told)


def _drawing(forward: func.FuncOp) -> tuple[str, ...]:
    """The devices on which the forward draws random numbers."""
    devices = Devices(forward.operation.parent)
    return tuple(dict.fromkeys(devices.of(op.results[0]) for op in body(forward) if is_random(op) and op.results))


def _written(call: func.CallOp) -> set[int]:
    """Positions of the call's arguments whose memory or sizes the caller changes."""
    caller = call.operation.block.operations
    changing = (op.operation.opview for op in caller if isinstance(op.operation.opview, WriteOp | SetMetadataOp))
    changed = with_aliases(call.operation.parent.opview, {memory_root(view.ref) for view in changing})
    return {index for index, value in enumerate(call.operands) if memory_root(value) in changed}


def _names(call: func.CallOp) -> list[str]:
    caller = call.operation.parent.opview
    names = {
        value: ir.StringAttr(facts[NAME]).value
        for value, facts in zip(arguments(caller), argument_facts(caller), strict=True)
        if NAME in facts
    }
    return [names.get(memory_root(value), str(index)) for index, value in enumerate(call.operands)]

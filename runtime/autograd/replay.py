"""The gradient of a compiled function as a differentiable one: what runs when a backward is itself differentiated.

`@forward` and `@backward` become one function of the arguments and the tangents, with regions inlined and without what
no gradient depends on. It runs op by op through ATen under autograd, so its results have a history like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.backends.python.operators import overload
from dovetail.dialects.attributes import NAME
from dovetail.dialects.calls import is_extern
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.devices import Devices, module_beside
from dovetail.dialects.dovetail import (
    OwnOp,
    ReadOp,
    SetMetadataOp,
    WriteOp,
)
from dovetail.dialects.layouts import layouts_of
from dovetail.dialects.memory.aliases import with_aliases
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, argument_facts, arguments, body, is_used, made_by, producer, returned
from dovetail.dialects.regions import is_copy
from dovetail.dialects.saved import saved_values
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.runtime.autograd.history import AtPlace, Place
from dovetail.runtime.autograd.inlining import inlined
from dovetail.runtime.random_states import drawing_from, random_state


@dataclass(frozen=True)
class Start:
    """What a replay must know of a call: the states before it of the generators that it draws from, by their devices.

    `places` are those that arguments had in autograd's graph before they were mutated.
    """

    random_states: Mapping[str, torch.Tensor]
    places: list[torch.Tensor]


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
        joined = _Joined(forward, backward, module)
        self._joined, self._has_layouts = joined, layouts_of(module) is not None
        used = [is_used(value) for value in joined.arguments]
        self.arguments = tuple(index for index, is_used in enumerate(used) if is_used)
        self.saved = tuple(number for number, value in joined.taken.items() if is_used(value))
        self.histories = {number: joined.copied[number] for number in self.saved if number in joined.copied}
        self.names = _names(call)
        self.draws = _drawing(forward) if any(_is_random(op) for op in joined.ops()) else ()
        self.refusal = self._refusal(call, backward)

    def _refusal(self, call: func.CallOp, backward: func.FuncOp) -> str | None:
        written = _written(call)
        for index in self.arguments:
            if index in written:
                return f"it depends on what argument {self.names[index]} held before the function changed it"
        for op in self._joined.ops():
            if control_flow_name(op):
                return f"'{control_flow_name(op)}' runs a branch or a loop ({op.location}), not supported there"
            if is_extern(op) and overload(aten_name(op))._schema.is_mutable:
                return f"'{aten_name(op)}' mutates memory ({op.location}), so it can't run again"
        for op in body(backward):
            if is_extern(op) and has_effect(op):
                return f"'{aten_name(op)}' in the backward has an effect ({op.location})"
        return None

    def start(self, arguments: Sequence) -> "Start":
        """What must be noted before a call runs."""
        places: list[torch.Tensor] = []
        if self.histories:
            with torch.enable_grad():
                places = [Place.apply(arguments[index]) for index in self.histories.values()]
        return Start({device: random_state(device) for device in self.draws}, places)

    def __call__(
        self, start: "Start", arguments: list, tangents: list, saved: Mapping[int, torch.Tensor], told: tuple
    ) -> tuple:
        """Returns a gradient (or None) for each argument, differentiable in arguments and tangents.

        `arguments` holds None for those that are not in `self.arguments`, `saved` has what `self.saved` names. `told`
        is what the border tells.
        """
        values = dict(saved)
        for number, place in zip(self.histories, start.places, strict=True):
            values[number] = AtPlace.apply(place, values[number])
        everything = [*arguments, *tangents, *values.values()]
        with torch._C._DisableAutocast():
            if not start.random_states:
                return self._gradient(everything, *told)
            with drawing_from(start.random_states):
                return self._gradient(everything, *told)

    @cached_property
    def _gradient(self) -> Callable:
        return Emitter(self._joined.function(self.saved), {}, has_layouts=self._has_layouts).emit().load()


class Source(Enum):
    """Where the joined function has a value from that the program saves."""

    COMPUTED = "computed again, which gives it its history"
    SAVED = "as it was saved: it has a history of its own, or needs none"
    SAVED_AT_PLACE = "as it was saved, with the history that the argument had which it is a copy of"


@dataclass(frozen=True)
class _Saved:
    """A saved value in the joined function, and the argument that it was read from, if it is one's value."""

    value: ir.Value
    source: Source
    read_from: ir.BlockArgument | None


class _Joined:
    """`@forward` and `@backward` as one function without regions, pruned to what the gradients depend on.

    Attributes:
        arguments: its parameters for the arguments.
        taken: its parameters for saved values, by number.
        copied: of those, by number, the argument of whose old value the saved one is a copy.
    """

    def __init__(self, forward: func.FuncOp, backward: func.FuncOp, module: Module):
        stated, count = saved_values(forward, backward), len(forward.type.inputs)
        owned, tangents = len(forward.type.results) - len(stated), list(backward.type.inputs)[len(stated) :]
        with forward.context, ir.Location.unknown():
            self._module = module_beside(forward)
            with ir.InsertionPoint(self._module.body):
                self._function = func.FuncOp("gradient", ir.FunctionType.get([*forward.type.inputs, *tangents], []))
            self._block = self._function.add_entry_block()
            parameters = list(self._block.arguments)
            self.arguments = parameters[:count]
            with ir.InsertionPoint(self._block):
                values = inlined(forward, self.arguments, module)[owned:]
                results = _differentiable_results(forward, owned)
                saved = [
                    _placed(value, number in results, each.is_checked)
                    for number, (value, each) in enumerate(zip(values, stated, strict=True))
                ]
                self.taken = self._take(saved)
                values = [self.taken.get(number, each.value) for number, each in enumerate(saved)]
                func.ReturnOp(inlined(backward, [*values, *parameters[count:]], module))
        copies = ((number, each) for number, each in enumerate(saved) if each.source is Source.SAVED_AT_PLACE)
        self.copied = {number: each.read_from.arg_number for number, each in copies if each.read_from is not None}
        _prune(self.ops())

    def ops(self) -> list[ir.Operation]:
        return body(self._function)

    def function(self, saved: tuple[int, ...]) -> func.FuncOp:
        """The function, its parameters for saved values being those of `saved`."""
        for number in reversed(self.taken):
            if number not in saved:
                self._block.erase_argument(self.taken.pop(number).arg_number)
        return self._function

    def _take(self, saved: Sequence[_Saved]) -> dict[int, ir.BlockArgument]:
        """Puts parameters, by number, in place of what is not computed, and of other reads of such an argument."""
        taken: dict[int, ir.BlockArgument] = {}
        for number, each in enumerate(saved):
            if each.source is Source.COMPUTED:
                continue
            taken[number] = self._block.add_argument(each.value.type, ir.Location.unknown())
            each.value.replace_all_uses_with(taken[number])
            for use in list(each.read_from.uses) if each.read_from is not None else ():
                use.owner.operation.results[0].replace_all_uses_with(taken[number])
        return taken


def _placed(value: ir.Value, is_result: bool, is_checked: bool) -> _Saved:
    """Decides where a saved value comes from; one that `is_result` can be differentiated where it was handed out."""
    read_from = _read_through_copies(value)
    if read_from is not None:
        return _Saved(value, Source.SAVED if is_checked else Source.SAVED_AT_PLACE, read_from)
    has_history = is_result or not _is_differentiable(value)
    return _Saved(value, Source.SAVED if has_history else Source.COMPUTED, None)


def _prune(ops: list[ir.Operation]) -> None:
    """Erases what no gradient depends on. A draw stays while one after it does: it moves the generator on."""
    is_drawn_after = False
    for op in reversed(ops[:-1]):
        is_needed = is_used(*op.results)
        is_drawn_after = is_drawn_after or (is_needed and _is_random(op))
        if not is_needed and not (_is_random(op) and is_drawn_after) and not _mutates(op):
            op.erase()


def _differentiable_results(forward: func.FuncOp, owned: int) -> set[int]:
    """Numbers of the saved values that the program hands out as differentiable results."""
    handed_over = returned(forward)
    owns = [op.opview for value in handed_over[:owned] if (op := made_by(value, OwnOp.OPERATION_NAME))]
    handed_out = [own.value for own in owns if own.is_differentiable]
    return {number for number, value in enumerate(handed_over[owned:]) if value in handed_out}


def _read_through_copies(value: ir.Value) -> ir.BlockArgument | None:
    """The argument that `value` is a read of, or a copy of one."""
    while (op := producer(value)) is not None and is_copy(op):
        value = op.operands[0]
    read = made_by(value, ReadOp.OPERATION_NAME)
    return None if read is None else ir.BlockArgument(read.operands[0])


def _is_differentiable(value: ir.Value) -> bool:
    info = shaped_info(value.type)
    if info is None:
        return False  # a number
    dtype = getattr(torch, info.dtype)
    return dtype.is_floating_point or dtype.is_complex


def _is_random(op: ir.Operation) -> bool:
    is_kernel = is_extern(op) and not control_flow_name(op)
    return is_kernel and torch.Tag.nondeterministic_seeded in overload(aten_name(op)).tags


def _drawing(forward: func.FuncOp) -> tuple[str, ...]:
    """The devices on which the forward draws random numbers."""
    devices = Devices(forward.operation.parent)
    return tuple(dict.fromkeys(devices.of(op.results[0]) for op in body(forward) if _is_random(op) and op.results))


def _mutates(op: ir.Operation) -> bool:
    return is_extern(op) and not control_flow_name(op) and overload(aten_name(op))._schema.is_mutable


def has_effect(op: ir.Operation) -> bool:
    if control_flow_name(op):
        return True
    return _is_random(op) or _mutates(op) or not overload(aten_name(op))._schema.returns


def _written(call: func.CallOp) -> set[int]:
    """Positions of the call's arguments whose memory or sizes the caller changes."""
    caller = call.operation.block.operations
    changing = (op.operation.opview for op in caller if isinstance(op.operation.opview, WriteOp | SetMetadataOp))
    changed = with_aliases(call.operation.parent.opview, {memory_root(view.ref) for view in changing})
    return {index for index, value in enumerate(call.operands) if memory_root(value) in changed}


def _names(call: func.CallOp) -> list[str]:
    caller = call.operation.parent.opview
    names = {
        value: ir.StringAttr(each[NAME]).value
        for value, each in zip(arguments(caller), argument_facts(caller), strict=False)
        if NAME in each
    }
    return [names.get(memory_root(value), str(index)) for index, value in enumerate(call.operands)]

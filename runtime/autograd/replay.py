"""The gradient of a compiled function as a differentiable one: what runs when a backward is itself differentiated.

It runs op by op through ATen under autograd, so its results have a history like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from dovetail.runtime.autograd.histories import Lying, WithHistory, lying_like, stand_in
from dovetail.runtime.autograd.random_states import CPU, drawing_from, random_state


@dataclass(frozen=True)
class Start:
    """What a replay must know of a call: the states before it of the generators that it draws from, by their devices.

    `stand_ins` are those of arguments in autograd's graph before they were mutated, then of those of which the replay
    takes no more, whose `strides` these are; `refusal` is why there can be no replay, None where there can.
    """

    random_states: Mapping[str, torch.Tensor]
    stand_ins: list[torch.Tensor]
    strides: list[tuple[int, ...]]
    refusal: str | None = None


@dataclass(frozen=True)
class Replay:
    """The differentiable gradient of one border.

    Attributes:
        arguments: positions of the arguments that it takes as they are, in order: no saved value holds them.
        saved: numbers of the saved values that it takes; the others are computed again.
        histories: of those, by number, the mutated argument whose history the saved value lacks.
        standing_in: positions of the arguments of which it takes the history alone.
        sums: numbers of the saved values of which it computes the history alone.
        draws: the devices on which it draws random numbers; they must be those that the forward drew.
        load: gives the function of arguments, tangents and saved values, without what only absent tangents, which it
            takes by number, reach.
        load_histories: gives the function of the same that computes `sums` anew, of which the history is wanted.
    """

    arguments: tuple[int, ...]
    saved: tuple[int, ...]
    histories: Mapping[int, int]
    standing_in: tuple[int, ...]
    sums: tuple[int, ...]
    draws: tuple[str, ...]
    load: Callable[[frozenset[int]], Callable]
    load_histories: Callable[[], Callable]

    def start(self, arguments: Sequence) -> Start:
        """What must be noted before a call runs. What a CUDA graph will draw, nobody knows while it is captured."""
        if any(device != CPU for device in self.draws) and torch.cuda.is_current_stream_capturing():
            return Start({}, [], [], "it draws random numbers, and was called while a CUDA graph was captured")
        stand_ins = [stand_in(arguments[index]) for index in (*self.histories.values(), *self.standing_in)]
        strides = [arguments[index].stride() for index in self.standing_in]
        return Start({device: random_state(device) for device in self.draws}, stand_ins, strides)

    def __call__(
        self,
        start: Start,
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
        gradient = self.load(absent)
        values = dict(saved)
        for number, given in zip(self.histories, start.stand_ins[: len(self.histories)], strict=True):
            values[number] = WithHistory.apply(given, values[number])
        with torch._C._DisableAutocast():
            values |= self._summed(start, arguments, tangents, values, told)
            everything = [*arguments, *tangents, *values.values()]
            if not start.random_states:
                return gradient(everything, *told)
            with drawing_from(start.random_states):
                return gradient(everything, *told)

    def _summed(
        self, start: Start, arguments: list, tangents: list, values: Mapping[int, torch.Tensor], told: tuple
    ) -> dict[int, torch.Tensor]:
        """The saved sums with their histories, lying as ATen's sums do: a region may have turned them."""
        if not self.sums:
            return {}
        given = list(arguments)
        stand_ins = start.stand_ins[len(self.histories) :]
        for index, each, strides in zip(self.standing_in, stand_ins, start.strides, strict=True):
            given[index] = Lying.apply(each, strides)
        computed = self.load_histories()([*given, *tangents, *values.values()], *told)
        pairs = zip(self.sums, computed, strict=True)
        return {number: WithHistory.apply(each, lying_like(each, values[number])) for number, each in pairs}

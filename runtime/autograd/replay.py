"""The gradient of a compiled function as a differentiable one: what runs when a backward is itself differentiated.

It runs op by op through ATen under autograd, so its results have a history like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from dovetail.runtime.autograd.histories import WithHistory, stand_in
from dovetail.runtime.autograd.random_states import CPU, drawing_from, random_state


@dataclass(frozen=True)
class Start:
    """What a replay must know of a call: the states before it of the generators that it draws from, by their devices.

    `stand_ins` are those of arguments in autograd's graph before they were mutated, then of those of which the replay
    takes no more; `refusal` is why there can be no replay, None where there can.
    """

    random_states: Mapping[str, torch.Tensor]
    stand_ins: list[torch.Tensor]
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
            return Start({}, [], "it draws random numbers, and was called while a CUDA graph was captured")
        stand_ins = [stand_in(arguments[index]) for index in (*self.histories.values(), *self.standing_in)]
        return Start({device: random_state(device) for device in self.draws}, stand_ins)

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

        `arguments` holds None for those that are not in `self.arguments`, and gets stand-ins; `tangents` holds zeros
        for those that are `absent`, by number; `saved` has what `self.saved` names. `told` is what the border tells.
        """
        gradient = self.load(absent)
        values = dict(saved)
        of_saved, of_arguments = start.stand_ins[: len(self.histories)], start.stand_ins[len(self.histories) :]
        for number, given in zip(self.histories, of_saved, strict=True):
            values[number] = WithHistory.apply(given, values[number])
        for index, given in zip(self.standing_in, of_arguments, strict=True):
            arguments[index] = given
        with torch._C._DisableAutocast():
            self._give_histories(values, [*arguments, *tangents, *values.values()], told)
            everything = [*arguments, *tangents, *values.values()]
            if not start.random_states:
                return gradient(everything, *told)
            with drawing_from(start.random_states):
                return gradient(everything, *told)

    def _give_histories(self, values: dict[int, torch.Tensor], everything: list, told: tuple) -> None:
        if self.sums:
            computed = zip(self.sums, self.load_histories()(everything, *told), strict=True)
            values |= {number: WithHistory.apply(each, values[number]) for number, each in computed}

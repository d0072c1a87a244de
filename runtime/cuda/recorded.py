"""`mode="reduce-overhead"`: the host functions of a program, replayed as CUDA graphs."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from dovetail.runtime.cuda import torch_streams
from dovetail.runtime.cuda.recording import Recording, overlaps
from dovetail.runtime.cuda.switches import switches
from dovetail.runtime.stats import current

_data_ptr = torch.Tensor.data_ptr

MAX_RECORDINGS = 4
"""Graphs of one function at a time: so many calls' results, less one, may be held while others are replayed."""

MAX_CAPTURES = 12
"""Graphs of one function in all. Where arguments that should stay lie elsewhere each time, capturing costs more."""

MAX_FAILURES = 3
"""Captures that fail one after the other, for want of memory, say: what fails each time is not tried with each call."""


@dataclass(frozen=True)
class Recordable:
    """What the IR says of a host function that is to be recorded.

    Attributes:
        name: its symbol.
        refusal: why it can't be, "" if it can.
        stays: of each argument, whether it lies at one address call by call: parameters and buffers, what is updated in
            place, and what the forward made for the backward.
        made: those of them that the forward made; such a call is replayed only after a replayed forward.
        draws: whether it draws random numbers.
    """

    name: str
    refusal: str
    stays: tuple[bool, ...] = ()
    made: tuple[int, ...] = ()
    draws: bool = False


class Recorded:
    """`run`, a function of one list of tensors (which it empties) and perhaps more, below autograd.

    The first call on a stream, or with other switches of PyTorch's, runs as it is, since libraries choose their kernels
    then; the next ones are recorded and replayed.
    A call runs as it is, and counts with the reason, where no recording is free and fitting and no other may be made.
    """

    def __init__(self, run: Callable, facts: Recordable, forward: "Recorded | None" = None):
        self._run = run
        self._facts = facts
        self._forward = forward
        self._warm: set[tuple] = set()
        self._captures = 0
        self._failures: list[str] = []
        self._recordings: list[Recording] = []
        self._busy = threading.Lock()
        if facts.refusal:
            self._count(facts.refusal)

    def __call__(self, arguments: list, *more) -> Sequence:
        if self._facts.refusal:
            return self._run(arguments, *more)
        if not self._busy.acquire(blocking=False):  # by another thread, or by this one, which runs a finalizer
            self._count("another call of it is under way")
            return self._run(arguments, *more)
        try:
            recording = self._recording(arguments, more)
            if recording is not None:
                results = recording.replay(arguments)
                arguments.clear()
                return results
        finally:
            self._busy.release()
        return self._run(arguments, *more)

    def made(self) -> set[int]:
        """The addresses of the recordings' results. A replay asks for none: a backward takes hundreds of them."""
        return set().union(*(recording.made() for recording in self._recordings))

    def _recording(self, tensors: list, more: tuple) -> Recording | None:
        """A recording to be replayed for these arguments, perhaps a new one; None if there can't be any."""
        device = self._gpu(tensors)
        if device is None:
            return None
        state = torch_streams.raw_stream(device), switches()
        if torch.cuda.is_current_stream_capturing():
            return None
        for recording in self._recordings:
            if recording.fits(tensors, more, state) and recording.is_idle():
                return recording
        if state not in self._warm:
            self._warm.add(state)
            return None
        made = self._forward.made() if self._forward else set()
        if not all(_data_ptr(tensors[index]) in made for index in self._facts.made):
            self._count("the values that it takes were saved by a call that was not replayed")
            return None
        return self._record(tensors, more, state)

    def _record(self, tensors: list, more: tuple, state: tuple) -> Recording | None:
        if len(self._failures) == MAX_FAILURES:
            self._count(self._failures[-1])
            return None
        pairs = zip(tensors, self._facts.stays, strict=True)
        if any(overlaps(tensor) for tensor, stays in pairs if not stays):
            self._count("elements of an argument share memory")
            return None
        if self._captures == MAX_CAPTURES:
            self._count(f"after {MAX_CAPTURES} recordings its arguments lie elsewhere again")
            return None
        if len(self._recordings) == MAX_RECORDINGS:
            idle = next((recording for recording in self._recordings if recording.is_idle()), None)
            if idle is None:
                self._count(f"results of {MAX_RECORDINGS} earlier calls are still held")
                return None
            self._recordings.remove(idle)
        self._captures += 1
        try:
            recording = Recording(self._run, self._facts.stays, self._facts.draws, tensors, more, state)
        except (RuntimeError, TypeError) as error:  # of torch's capture: not captured, nothing has run
            self._failures.append(" ".join(str(error).split("\n")[0].split()))
            self._count(self._failures[-1])
            return None
        self._failures.clear()
        current().recordings += 1
        self._recordings.append(recording)
        return recording

    def _gpu(self, tensors: list) -> int | None:
        """The GPU that all arguments are on, which is the current one; None where there is none, and says why."""
        if not tensors:
            self._count("it takes no tensors, which tell the GPU")
            return None
        devices = [each.get_device() if isinstance(each, torch.Tensor) else -1 for each in tensors]
        device = max(devices)
        elsewhere = [index for index, found in enumerate(devices) if found != device]
        if device < 0 or not all(self._is_early(index, tensors[index]) for index in elsewhere):
            self._count("its arguments are not all tensors on one GPU")
            return None
        if device != torch_streams.current_device():
            self._count("its arguments are on another GPU than the thread's")
            return None
        return device

    def _is_early(self, index: int, argument: object) -> bool:
        """Whether the forward made this argument, while it was not replayed: a later call's may be on the GPU.

        What attention has in place of a generator's state is made on the CPU, but during a capture.
        """
        if not isinstance(argument, torch.Tensor) or index not in self._facts.made or self._forward is None:
            return False
        return _data_ptr(argument) not in self._forward.made()

    def _count(self, reason: str) -> None:
        current().without_effect[f"reduce_overhead: @{self._facts.name} is not replayed: {reason}"] += 1

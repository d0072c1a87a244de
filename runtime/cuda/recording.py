"""One call of a host function as a CUDA graph, which is replayed in place of later calls."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from sys import getrefcount

import torch

from dovetail.runtime.cuda import torch_streams
from dovetail.runtime.cuda.capture import captured
from dovetail.runtime.cuda.drawing import turn

_data_ptr = torch.Tensor.data_ptr
_start = torch.UntypedStorage.data_ptr


class Recording:
    """A graph of `run`, with the memory that it works in, which is its own.

    An argument that `stays` is read and written where it lay; the others are copied to where the graph reads them.
    What `run` returns in memory of the graph's is handed out as new tensors there, version 0; what it returns of an
    argument's memory, as that of the argument given. As long as somebody holds a result of a replay, or a view of
    it, the recording `is_idle` no more, and must not be replayed; so results stay as they are.
    """

    def __init__(
        self,
        run: Callable,
        stays: Sequence[bool],
        draws: bool,
        tensors: Sequence[torch.Tensor],
        more: tuple,
        state: tuple,
    ):
        """Captures `run(tensors, *more)` in a `state`: a stream, and PyTorch's switches; nothing of it is computed yet.

        It is told whether it `draws` random numbers.

        Raises:
            RuntimeError: by torch, if something in it can't be captured.
            TypeError: if it returns something else than tensors and None.
        """
        self._device, self._draws = tensors[0].get_device(), draws
        self._state, self._more = state, more
        self._fixed = [(position, _data_ptr(tensor)) for position, tensor in enumerate(tensors) if stays[position]]
        self._moved = [position for position, stay in enumerate(stays) if not stay]
        self._inputs = [_like(tensors[position]) for position in self._moved]
        given = list(tensors)
        for position, memory in zip(self._moved, self._inputs, strict=True):
            given[position] = memory
        self._graph = torch.cuda.CUDAGraph()
        with captured(self._graph, self._device):
            results = run(list(given), *more)
        self._results = [_result(result, given) for result in results]
        del results
        self._storages = _storages(value for value in self._results if isinstance(value, torch.Tensor))
        self._numbers = [storage._cdata for storage in self._storages]
        self._idle = self._held()

    def fits(self, tensors: Sequence[torch.Tensor], more: tuple, state: tuple) -> bool:
        """Whether the arguments that stay lie where they lay, in the same state."""
        if state != self._state or more != self._more:
            return False
        return all(_data_ptr(tensors[position]) == address for position, address in self._fixed)

    def is_idle(self) -> bool:
        """Whether nobody holds results of the last replay, nor has taken their memory away."""
        return self._held() == self._idle

    def _held(self) -> list[int]:
        """How many tensors hold each storage, how many of Python's objects hold its one object, and where it lies."""
        storages = self._storages
        return [*map(torch_streams.holders, self._numbers), *map(getrefcount, storages), *map(_start, storages)]

    def replay(self, tensors: Sequence[torch.Tensor]) -> tuple:
        """The results for these arguments, which fit; the work goes to the current stream."""
        if self._moved:
            torch._foreach_copy_(self._inputs, [tensors[position] for position in self._moved])
        with turn(self._device, self._state[0]) if self._draws else nullcontext():
            self._graph.replay()
        return tuple(_handed_out(result, tensors) for result in self._results)

    def made(self) -> set[int]:
        """The addresses of the results in the graph's own memory."""
        return {_data_ptr(result) for result in self._results if isinstance(result, torch.Tensor)}


class _Shown:
    """A result in memory of argument `position`, `distance` elements from its first; without a `layout`, itself."""

    def __init__(self, position: int, distance: int, layout: tuple[torch.Size, tuple[int, ...]] | None):
        self.position, self.distance, self.layout = position, distance, layout


def _result(made: object, given: Sequence[torch.Tensor]) -> "torch.Tensor | _Shown | None":
    if made is None:
        return None
    if not isinstance(made, torch.Tensor):
        raise TypeError(f"it returns {type(made).__name__}, expected tensors")
    for position, tensor in enumerate(given):
        if made is tensor:
            return _Shown(position, 0, None)
        if made.untyped_storage()._cdata == tensor.untyped_storage()._cdata:
            if made.dtype is not tensor.dtype:
                raise TypeError(f"it returns argument {position} as {made.dtype}, expected {tensor.dtype}")
            layout = (made.size(), made.stride())
            return _Shown(position, int(made.storage_offset() - tensor.storage_offset()), layout)
    return made


def _handed_out(result: "torch.Tensor | _Shown | None", tensors: Sequence[torch.Tensor]) -> torch.Tensor | None:
    if not isinstance(result, _Shown):
        return None if result is None else result.data
    argument = tensors[result.position]
    if result.layout is None:
        return argument
    size, stride = result.layout
    return argument.as_strided(size, stride, argument.storage_offset() + result.distance)


def _storages(tensors: Iterable[torch.Tensor]) -> list[torch.UntypedStorage]:
    return list({tensor.untyped_storage()._cdata: tensor.untyped_storage() for tensor in tensors}.values())


def overlaps(tensor: torch.Tensor) -> bool:
    """Whether elements of `tensor` surely share memory, as of one that is expanded: nothing can be copied there."""
    return torch._debug_has_internal_overlap(tensor) == 1


def _like(tensor: torch.Tensor) -> torch.Tensor:
    """Memory for a copy of `tensor`, with its strides."""
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)

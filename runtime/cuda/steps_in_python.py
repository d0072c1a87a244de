"""What the extension's `Steps` are, in Python, for machines where the install found no C compiler: slower."""

import ctypes
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import torch

from dovetail.runtime.launches.element_types import kind_of

DISPATCH, FILL, COPY = range(3)
"""The kinds of steps, as `native/plan.h` numbers them."""

_POINTER, _COUNT, _WORD = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
_OVERLAPS = 6
"""The number of the attribute that lets a kernel begin while the one before it runs."""


class LaunchAttribute(ctypes.Structure):
    """The driver's."""

    _fields_ = (("number", ctypes.c_uint64), ("value", ctypes.c_int * 16))


class LaunchConfiguration(ctypes.Structure):
    """The driver's: workgroups, threads and shared bytes of a launch, its stream, and its attributes."""

    _fields_ = (
        ("sizes", _WORD * 7),
        ("stream", _POINTER),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("attribute_count", _WORD),
    )


# Of the driver's functions, in the order of `native/interfaces.h`.
_PARAMETERS = (
    (_POINTER, _POINTER, _POINTER, _POINTER),
    (_POINTER, ctypes.c_ubyte, _COUNT, _POINTER),
    (_POINTER, ctypes.c_ushort, _COUNT, _POINTER),
    (_POINTER, _WORD, _COUNT, _POINTER),
    (_POINTER, _COUNT, _WORD, _COUNT, _COUNT, _POINTER),
    (_POINTER, _POINTER, _COUNT, _POINTER),
    (_POINTER,),
    (_POINTER,),
    (_POINTER,),
)


class Steps:
    """Kernels, fills and copies on tensors, by the driver's functions; what is given, `_launch.pyi` says."""

    def __init__(
        self,
        name: str,
        functions: Sequence[int],
        context: int,
        place: tuple[int, int, int],
        tensors: tuple[tuple, ...],
        transient_bytes: int,
        constants: tuple[tuple[int, int], ...],
        steps: tuple[tuple, ...],
        asked: tuple[Callable, Callable, Callable, Callable | None, Callable],
    ):
        pairs = zip(_PARAMETERS, functions, strict=True)
        made = [ctypes.CFUNCTYPE(ctypes.c_int, *parameters)(address) for parameters, address in pairs]
        self._launch, *fills, self._fill_columns, self._copy, self._device, self._context, self._enter = made
        self._fills = dict(zip((1, 2, 4), fills, strict=True))
        self._name, self._home, self._place, self._expected = name, context, place, tensors
        self._transient_bytes, self._constants, self._steps = transient_bytes, constants, steps
        self._stream, self._allocate, self._misfit, self._check, self._refused = asked

    def __call__(self, *tensors: Any) -> bool:
        if len(tensors) != len(self._expected):
            raise TypeError(f"{self._name}: got {len(tensors)} arguments, expected {len(self._expected)}")
        taken: list[torch.Tensor] = []
        for index, (given, expected) in enumerate(zip(tensors, self._expected, strict=True)):
            tensor = given if self._fits(given, expected) else self._misfit(index, given)
            if tensor is None:
                return False
            if tensor is not given and not self._fits(tensor, expected):
                raise ValueError(f"{self._name}: argument {index} does not fit")
            taken.append(tensor)
        addresses = [tensor.data_ptr() for tensor in taken]
        if self._check is not None:
            self._check(array("Q", addresses).tobytes())
        self._run_on_device(addresses)
        return True

    def _fits(self, given: Any, expected: tuple) -> bool:
        shape, kind, bits, _, _ = expected
        device_type, device_id, alignment = self._place
        return (
            isinstance(given, torch.Tensor)
            and given.layout is torch.strided
            and tuple(given.shape) == shape
            and (kind_of(str(given.dtype).removeprefix("torch.")), given.itemsize * 8) == (kind, bits)
            and given.device.type != "meta"
            and tuple(map(int, given.__dlpack_device__())) == (device_type, device_id)
            and given.is_contiguous()
            and not given.data_ptr() % alignment
            and not given.is_neg()
            and bool(given.data_ptr() or not given.numel())
        )

    def _run_on_device(self, addresses: list[int]) -> None:
        """In a thread that is on another device, or on none; in the latter case it keeps this one."""
        current, previous = ctypes.c_int(), ctypes.c_void_p()
        if not self._device(ctypes.addressof(current)) and current.value == self._place[1]:
            return self._run(addresses)
        self._succeed(-1, self._context(ctypes.addressof(previous)))
        self._succeed(-1, self._enter(self._home))
        try:
            self._run(addresses)
        finally:
            if previous.value:
                self._succeed(-1, self._enter(previous))

    def _run(self, addresses: list[int]) -> None:
        memory = self._allocate() if self._transient_bytes else None
        buffers = [*addresses, memory.data_ptr() if memory is not None else 0, *(start for start, _ in self._constants)]
        stream = self._stream(self._place[1])
        run: dict[int, Callable[..., int]] = {DISPATCH: self._run_kernel, FILL: self._run_fill, COPY: self._run_copy}
        for number, (kind, *step) in enumerate(self._steps):
            self._succeed(number, run[kind](buffers, stream, *step))

    def _run_kernel(self, buffers: list[int], stream: int, kernel: int, *step: Any) -> int:
        """Parameters lie in cells of 8 bytes, a word in the first half; those of sets of bindings are one."""
        workgroups, threads, shared_bytes, words, ranges, table, overlaps = step
        bindings = [buffers[buffer] + offset for buffer, offset, _ in ranges]
        bindings += [0] * (table - len(bindings))
        cells = (ctypes.c_uint64 * (len(bindings) + len(words)))(*bindings, *words)
        starts = [*range(0, len(bindings), table or 1), *range(len(bindings), len(cells))]
        pointers = (ctypes.c_void_p * len(starts))(*(ctypes.addressof(cells) + 8 * start for start in starts))
        attribute = LaunchAttribute(_OVERLAPS, (1,))
        sizes = (_WORD * 7)(*workgroups, *threads, shared_bytes)
        configuration = LaunchConfiguration(sizes, stream, ctypes.pointer(attribute), int(overlaps))
        return self._launch(ctypes.addressof(configuration), kernel, ctypes.addressof(pointers), None)

    def _run_fill(self, buffers: list[int], stream: int, ranges: tuple, bits: int, width: int) -> int:
        ((buffer, offset, size),) = ranges
        start = buffers[buffer] + offset
        if width < 8:
            return self._fills[width](start, bits, size // width, stream)
        low, high = bits & 0xFFFFFFFF, bits >> 32
        status = self._fill_columns(start, 8, low, 1, size // 8, stream)
        return status or self._fill_columns(start + 4, 8, high, 1, size // 8, stream)

    def _run_copy(self, buffers: list[int], stream: int, ranges: tuple) -> int:
        (source, start, size), (target, to, _) = ranges
        return self._copy(buffers[target] + to, buffers[source] + start, size, stream)

    def _succeed(self, number: int, status: int) -> None:
        if status:
            self._refused(number, status)

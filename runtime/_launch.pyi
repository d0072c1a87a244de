"""The extension, whose sources are in `native/`."""

from collections.abc import Callable, Sequence

import torch

class Library:
    code: bytes
    def __init__(self, code: bytes) -> None: ...

class Plan:
    name: str
    library: Library
    def __init__(
        self,
        name: str,
        library: Library,
        arguments: tuple[tuple[tuple[int, ...], int, int, bool, bool], ...],
        registers: tuple[tuple[int, int, int], ...],
        instructions: tuple[tuple[int, ...], ...],
        transients: tuple[int | tuple[int], ...],
        constants: bytes,
        steps: tuple[tuple, ...],
        misfit: Callable[[int, object], torch.Tensor],
    ) -> None: ...
    def __call__(self, *arguments: torch.Tensor | int) -> None: ...

class Launches:
    def __init__(
        self, launched: tuple[tuple[Plan, tuple[int, ...]], ...], count: int, check: Callable[[bytes], None]
    ) -> None: ...
    def __call__(self, tensors: list[torch.Tensor]) -> bool: ...

class Steps:
    def __init__(
        self,
        name: str,
        driver: tuple[int, ...],
        context: int,
        place: tuple[int, int, int],
        tensors: tuple[tuple[tuple[int, ...], int, int, bool, bool], ...],
        transient_bytes: int,
        constants: tuple[tuple[int, int], ...],
        steps: tuple[tuple, ...],
        asked: tuple[
            Callable[[int], int],
            Callable[[], torch.Tensor],
            Callable[[int, object], torch.Tensor | None],
            Callable[[bytes], None] | None,
            Callable[[int, int], None],
        ],
    ) -> None: ...
    def __call__(self, *tensors: torch.Tensor) -> bool: ...

def attach(tensor_type: type[torch.Tensor], exchange: object, get_num_threads: Callable[[], int]) -> bool: ...
def addresses(tensors: Sequence[torch.Tensor]) -> bytes | None: ...
def are_ready(tensors: Sequence[torch.Tensor]) -> bool: ...

"""The states of PyTorch's generators of random numbers, of which each device has one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch

CPU = "cpu"


def random_state(device: str) -> torch.Tensor:
    """The state of the generator of `device` ("cpu", "cuda:0")."""
    return torch.get_rng_state() if device == CPU else torch.cuda.get_rng_state(device)


@contextmanager
def drawing_from(states: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """Draws from these states, by device; afterwards the generators are as they were."""
    before = {device: random_state(device) for device in states}
    try:
        _set(states)
        yield
    finally:
        _set(before)


def _set(states: Mapping[str, torch.Tensor]) -> None:
    for device, state in states.items():
        if device == CPU:
            torch.set_rng_state(state)
        else:
            torch.cuda.set_rng_state(state, device)

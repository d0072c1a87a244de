"""A launch plan for a GPU, as plain records."""

from dataclasses import dataclass
from typing import NamedTuple

import torch

from dovetail.runtime.launches.plan_records import Step


class Argument(NamedTuple):
    """What a region expects of an argument: row by row, on one GPU."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    is_written: bool


@dataclass(frozen=True)
class PlanRecord:
    """A region's launches on a GPU, in order; one stream runs them one after the other, so there are no barriers.

    Attributes:
        region: its symbol.
        arguments: inputs, then destinations.
        transient_bytes: of the buffer after the arguments, which a call needs while it runs.
        constants: the contents of the last buffer.
    """

    region: str
    arguments: tuple[Argument, ...]
    transient_bytes: int
    constants: bytes
    steps: tuple[Step[int], ...]

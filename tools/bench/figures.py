"""What was measured of one case."""

from dataclasses import dataclass, field

EAGER = "eager"
DYNAMIC = "dovetail, dynamic"
"""Dovetail with all sizes open: `torch.compile(dynamic=True)`."""
TRACING = "PyTorch alone"
"""What a call, or a first call, costs with a backend that does nothing or compiles nothing."""

DYNAMO_ALONE = "eager"
"""The backend of PyTorch's that computes op by op: all that a first call beside filled caches takes is Dynamo's."""


@dataclass
class Figures:
    """Samples by name of the compiler, in seconds and bytes.

    `cold_compile` and `warm_compile`, of models only, are the first call in a new process, with empty caches and with
    those which the cold one filled; eager has none. `TRACING` is there where it is most of the time: of models it is
    Dynamo's and, cold, the joint graph's, with the ops run one by one. `step` is a later call, `peak` the memory that
    such a call needs above what was held before.
    """

    case: str
    group: str
    cold_compile: dict[str, list[float]] = field(default_factory=dict)
    warm_compile: dict[str, list[float]] = field(default_factory=dict)
    step: dict[str, list[float]] = field(default_factory=dict)
    peak: dict[str, list[float]] = field(default_factory=dict)

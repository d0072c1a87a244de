"""The backward from some of a call's results alone, without what the others' absent gradients would be multiplied with.

What only they reach is left out of `@backward`, which then runs op by op through ATen.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from dovetail.errors import EagerWarning, warn
from dovetail.runtime.stats import current

_REASON = "a backward from some results met infinite values, and ran again op by op"


@dataclass(frozen=True)
class PartialBackward:
    """The backward of one border, for any of its tangents absent.

    `is_possible` says whether there may be one: several tangents, and nothing that has an effect, a branch or a loop.
    `load` gives it for those that are absent, by number.
    """

    is_possible: bool
    load: Callable[[frozenset[int]], Callable]

    def __call__(self, values: list, absent: frozenset[int], told: tuple) -> tuple:
        """The gradients, zeros where only tangents that are `absent` (by number) give one; `told` is by the border."""
        run = self.load(absent)
        current().eager[_REASON] += 1
        warn(f"dovetail runs a backward eagerly: {_REASON}", EagerWarning)
        with torch.no_grad(), torch._C._DisableAutocast():
            return run(values, *told)

"""What one line of a program can be, by kind: templates over tensors that fit them.

A rule gets the random stream and tensors, and returns a template, or None where it has nothing to say about them.
Whether eager accepts the line is found out by running it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import torch

Make = Callable[[Random, Sequence[torch.Tensor]], str | None]


@dataclass(frozen=True)
class Rule:
    """One kind of line.

    Attributes:
        weight: how often it is drawn, beside others of its table.
        make: gives the template.
        operands: how many tensors it is about.
        helper: the name in `helpers.SOURCES` that it needs.
    """

    weight: float
    make: Make
    operands: int = 1
    helper: str = ""


def always(template: str) -> Make:
    """The same line for whatever tensor."""
    return lambda draw, tensors: template


def where(condition: Callable[[torch.Tensor], bool], template: str) -> Make:
    """The line, where the first tensor fits."""
    return lambda draw, tensors: template if condition(tensors[0]) else None


def where_distinct(template: str) -> Make:
    """The line, where the tensors are not one: eager's `x.copy_(x)` checks nothing and does nothing."""
    return lambda draw, tensors: None if tensors[0] is tensors[1] else template


def choice(rules: Sequence[Rule], draw: Random) -> Rule:
    """One of the rules, by weight."""
    return draw.choices(rules, [rule.weight for rule in rules])[0]


def is_float(tensor: torch.Tensor) -> bool:
    """Real numbers of single or double precision."""
    return tensor.dtype in (torch.float32, torch.float64)


def some_dim(draw: Random, tensor: torch.Tensor) -> int | None:
    """One of the tensor's dimensions; None if it has none."""
    return draw.randrange(tensor.ndim) if tensor.ndim else None


def part(draw: Random, tensor: torch.Tensor) -> str | None:
    """An index expression for some of the tensor: `1:3` or `:, 0`."""
    dim = some_dim(draw, tensor)
    if dim is None or tensor.shape[dim] < 2:
        return None
    size = tensor.shape[dim]
    start = draw.randrange(size)
    stop = draw.randint(start + 1, size)
    which = draw.choice([f"{start}:{stop}", f"{start}:", f":{stop}", f"{start}:{stop}", str(start), "::2"])
    return ":, " * dim + which

"""Lines that make tensors whose sizes only data tells, and such as show, copy, write and reduce these."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.rules import Make, Rule

_BOUNDS = ("-100", "-1", "0", "0.5", "1", "2", "100")
# Of rows, or of numbers: some, one, none or all. Of one row alone, many copies are none.
_ROWS = (
    "{0}.reshape({0}.shape[0], -1).sum(1) > BOUND",
    "{0}.reshape({0}.shape[0], -1).amax(1) <= BOUND",
    "torch.arange({0}.shape[0]) == {0}.shape[0] // 2",
    "torch.arange({0}.shape[0]) < 1",
    "torch.arange({0}.shape[0]) % 3 == 1",
)


def _of_rows(template: str, dims: int = 1) -> Make:
    """The line for a tensor of at least so many dimensions; ROWS says of each row whether it is taken."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        if tensors[0].ndim < dims or not tensors[0].numel():
            return None
        return template.replace("ROWS", f"({draw.choice(_ROWS)})").replace("BOUND", draw.choice(_BOUNDS))

    return make


def _of_dims(template: str, dims: int = 1) -> Make:
    """The line for a tensor of at least so many dimensions, with one of them for DIM."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        if tensors[0].ndim < dims:
            return None
        return template.replace("DIM", str(draw.randrange(tensors[0].ndim)))

    return make


MAKES = (
    *(
        Rule(3, _of_rows(template))
        for template in (
            "{0}[ROWS]",
            "ROWS; {1}.nonzero().squeeze(1); {0}.index_select(0, {2})",
            "{0}[: ROWS.sum().item()]",
            "{0}[ROWS.sum().item() :]",
        )
    ),
    *(
        Rule(2, _of_rows(template, dims=2))
        for template in (
            "{0}[ROWS]; {1}.transpose(0, 1).contiguous()",
            "{0}[ROWS]; {1}.transpose(0, 1).reshape(-1)",
            "{0}[ROWS]; {1}.transpose(0, 1).flatten()",
            "{0}[ROWS].transpose(0, 1); {1}.reshape({1}.shape[0], -1)",
        )
    ),
    *(
        Rule(1, _of_rows(template))
        for template in (
            "{0}[{0} > BOUND]",
            "{0}.masked_select({0} > BOUND)",
            "({0} > BOUND).nonzero()",
            "torch.unique({0})",
            "{0}.repeat_interleave(ROWS.long(), 0)",
            "{0} * ROWS.sum().item()",
            "torch.arange(ROWS.sum().item()) * {0}.sum()",
            "{0}.new_ones(ROWS.sum().item(), 3) * {0}.mean()",
        )
    ),
)
_WRITES = (
    "{0}.add_(1)",
    "{0}.mul_(0.5)",
    "{0}.zero_()",
    "{0}.relu_()",
    "{0}.select(DIM, 0).add_(1)",
    "{0}.narrow(DIM, 0, 1).mul_(2)",
    "{0}.transpose(DIM, 0).fill_(3)",
)
_SHOWS = (
    "{0}.transpose(DIM, 0)",
    "{0}.transpose(DIM, 0).contiguous()",
    "{0}.transpose(DIM, 0).reshape(-1)",
    "{0}.contiguous()",
    "{0}.flatten()",
    "{0}.reshape(-1)",
    "{0}.view(-1)",
    "{0}.reshape({0}.shape[0], -1)",
    "{0}.unsqueeze(DIM)",
    "{0}.squeeze(DIM)",
    "{0}.select(DIM, -1)",
    "{0}[1:]",
    "{0}[:1]",
    "{0}.expand(2, *{0}.shape)",
    "{0}.detach()",
    "{0}.clone()",
    "{0} * 1",
)
_COMPUTES = (
    "{0} * {0}.shape[DIM]",
    "{0}.sum(DIM)",
    "{0}.mean(DIM, keepdim=True)",
    "{0}.amax(DIM)",
    "{0}.cumsum(DIM)",
    "{0}.softmax(DIM)",
    "{0} - {0}.sum(DIM, keepdim=True)",
    "torch.cat([{0}, {0} + 1], DIM)",
    "{0}.sort(DIM).values",
    "{0}.flip(DIM)",
    "{0}.square().sum()",
    "torch.nn.functional.layer_norm({0}, {0}.shape[-1:])",
    "torch.nn.functional.pad({0}, (0, 1))",
    "torch.where({0} > 0, {0}, 0)",
)
USES = (
    *(Rule(3, _of_dims(template)) for template in _WRITES),
    *(Rule(2, _of_dims(template)) for template in _SHOWS),
    *(Rule(1, _of_dims(template)) for template in _COMPUTES),
    Rule(1, _of_dims("{0}.flatten(1) @ {0}.flatten(1).transpose(0, 1)", dims=2)),
)

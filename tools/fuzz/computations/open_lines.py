"""Lines about open sizes: sizes that follow from others, sums across several, views, writes, what compilers fold."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.computations.mixed_types import whole
from dovetail.tools.fuzz.rules import Make, Rule

# Arguments that are views of the first one, and such that are numbers; a size of the first call is one of these, too.
ALIASES = ("{0}", "{0}.detach()", "{0}[1:]", "{0}[::2]", "{0}.transpose(0, -1)", "{0}[..., : {0}.shape[-1] // 2]")
NUMBERS = ("{0}.shape[0]", "{0}.shape[-1] // 2", "{0}.numel() / 3", "0", "2", "0.5", "(0, 1)", "(0, 2)", "(0, 2)")

_ROUNDED = (
    "{0}.shape[DIM] // 2",
    "({0}.shape[DIM] + 1) // 2",
    "round({0}.shape[DIM] / 2)",
    "-(-{0}.shape[DIM] // 3)",
    "int({0}.shape[DIM] * 0.75)",
    "int({0}.shape[DIM] * 0.7)",
    "int({0}.shape[DIM] ** 0.5)",
    "{0}.shape[DIM] % 3",
    "abs({0}.shape[DIM] - 6)",
    "{0}.shape[DIM] - 2",
    "max({0}.shape[DIM] - 3, 1)",
    "min({0}.shape[DIM], 4)",
)


def _open(template: str) -> Make:
    """The line for one of the dimensions, DIM, of tensors that have any.

    SIZE follows from its size, DIMS are several dimensions, KEEP is True or False.
    """

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        dims = tensors[0].ndim
        if dims < (3 if "DIMS" in template else 1) or not tensors[0].numel():
            return None
        several = tuple(sorted(draw.sample(range(dims), draw.randrange(2, dims)))) if dims > 2 else ()
        line = template.replace("DIMS", str(several)).replace("SIZE", f"({draw.choice(_ROUNDED)})")
        return line.replace("DIM", str(draw.randrange(dims))).replace("KEEP", str(draw.random() < 0.5))

    return make


_SIZES = (
    "{0}.narrow(DIM, 0, SIZE)",
    "{0}.roll(SIZE, DIM)",
    "{0}.split(max(SIZE, 1), DIM)[-1]",
    "{0}.unfold(DIM, SIZE, 1)",
    "{0}.unfold(DIM, SIZE, 2)",
    "{0}.unfold(DIM, SIZE, {0}.shape[DIM])",
    "{0}.repeat_interleave(SIZE, DIM)",
    "torch.nn.functional.pad({0}, (0, SIZE))",
    "{0} / max(SIZE, 1)",
    "{0}.mean() * torch.arange(SIZE)",
    "{0}.new_ones(SIZE, 2) * {0}.sum()",
    "torch.cat([{0}, {0}.narrow(DIM, 0, SIZE)], DIM)",
)
_SUMS = (
    "{0}.sum(DIMS, keepdim=KEEP)",
    "{0}.mean(DIMS, keepdim=True); {0} - {1}; {2}.square()",
    "{0}.var(DIMS, correction=0, keepdim=True); {0} / ({1} + 0.1).sqrt()",
    "{0}.square().sum(DIMS) * {0}.shape[DIM]",
    "{0}.amax(DIMS, keepdim=True); {0} * ({0} == {1})",
)
_VIEWS = (
    "{0}.view(-1)",
    "{0}.view({0}.shape[0], -1)",
    "{0}.flatten(DIM)",
    "{0}.select(DIM, -1)",
    "{0}.unflatten(DIM, (-1, 1))",
    "{0}.movedim(DIM, 0)",
    "{0}.expand(2, *{0}.shape)",
    "{0}.detach()",
    "{0}.as_strided({0}.shape, {0}.stride())",
)
WRITES = (
    *(
        Rule(1, _open(template))
        for template in (
            "{0}.add_(1)",
            "{0}.mul_(0.5)",
            "{0}.relu_()",
            "{0}.fill_(SIZE)",
            "{0}.view(-1).add_(1)",
            "{0}.select(DIM, -1).zero_()",
            "{0}.narrow(DIM, 0, SIZE).mul_(0.5)",
            "{0}.transpose(DIM, 0).add_({0}.shape[DIM])",
            "{0}.masked_fill_({0} > 0.5, 0.25)",
            "{0}.copy_({0}.flip(DIM))",
            "{0}.narrow(DIM, 0, {0}.shape[DIM] - 1).copy_({0}.narrow(DIM, 1, {0}.shape[DIM] - 1).clone())",
        )
    ),
    *(Rule(2, _open(template), operands=2) for template in ("{0}.add_({1})", "{0}.copy_({1})", "{0}.lerp_({1}, 0.5)")),
)
_EXTREMES = (
    "{0}.amax(DIM)",
    "{0}.amin(DIM, keepdim=True)",
    "{0} - {0}.amin(DIM, keepdim=True)",
    "{0}.max(DIM).values",
    "{0}.argmin(DIM)",
)
_FOLDED = (
    "torch.where({0} > 0, 2.0, 2.0)",
    "torch.where({0} > 0.5, {0}.sum(), {0}.sum())",
    "{0}.amax(DIM, keepdim=True); torch.where({0} < {1}, {1}, {1})",
    "{0}.clone().fill_(SIZE).sum(DIM)",
    "torch.ones_like({0}).sum(DIM, keepdim=KEEP)",
)
_FOLDED_NUMBERS = ("({0} * 0 + 3).sum(DIM)", "({0} >= {0}).sum(DIM)", "{0}.clamp(5, 5).sum(DIM, keepdim=True)")
_UPDATED_TWICE = (
    "{0}.sum(DIM, keepdim=True); {0}.amax(DIM, keepdim=True);"
    " torch.cat([torch.zeros_like({1}), {2}], DIM) * torch.cat([torch.zeros_like({1}), {1}], DIM).exp()",
    "{0}.mean(DIM); ({0} * {0}).sum(DIM); torch.stack([{1} * 0, {2}, {1} * 0]) - torch.stack([{1} * 0, {1}, {1} * 0])",
    "{0}.narrow(DIM, 0, 1); {0}.amin(DIM, keepdim=True);"
    " {0}.slice_scatter({2}, DIM, 0, 1) - {0}.slice_scatter({1}, DIM, 0, 1)",
)
WITH_NUMBER = tuple(
    Rule(1, _open(template))
    for template in (
        "{0} * n0",
        "{0}[:n0]",
        "{0}[: int(n0)]",
        "{0} * int(n0)",
        "{0}.narrow(DIM, 0, n0)",
        "{0}.roll(n0, DIM)",
        "{0}.view(n0, -1)",
        "{0}.square().sum(n0)",
        "({0} * {0}).sum(n0) * {0}.shape[DIM]",
        "{0}.mean(n0, keepdim=True); {0} - {1}",
    )
)
OPEN = (
    *(Rule(1, _open(template)) for template in (*_SIZES, *_VIEWS)),
    *(Rule(2, _open(template)) for template in _SUMS),
    *(Rule(1, _open(template)) for template in (*_FOLDED, *_UPDATED_TWICE)),
    *(Rule(1, whole(template)) for template in (*_EXTREMES, *_FOLDED_NUMBERS)),
    *WRITES,
)

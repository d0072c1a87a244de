"""Lines that reduce, scan or sort a dimension; the gradients of many compare an input with a result."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.rules import Make, Rule, some_dim

_MOST_SORTED = 4096  # elements; sorting is slow
_MOST_MULTIPLIED = 32  # of one product


def over_dim(template: str, most: int | None = None) -> Make:
    """The line for one of the dimensions, written DIM, of real tensors that have any.

    OTHER is one of them, too, maybe the same; KEEP is True or False.
    """

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        dim = some_dim(draw, tensors[0])
        if dim is None or not tensors[0].is_floating_point() or not tensors[0].shape[dim]:
            return None
        if most is not None and tensors[0].numel() > most:
            return None
        written = str(dim if draw.random() < 0.5 else dim - tensors[0].ndim)
        line = template.replace("DIM", written).replace("KEEP", str(draw.random() < 0.5))
        return line.replace("OTHER", str(draw.randrange(tensors[0].ndim)))

    return make


def _over_all(template: str, most: int | None = None) -> Make:
    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        count = tensors[0].numel()
        fits = tensors[0].is_floating_point() and count and (most is None or count <= most)
        return template if fits else None

    return make


REDUCTIONS = (
    *(
        Rule(2, over_dim(template))
        for template in (
            "{0}.amax(DIM, keepdim=KEEP)",
            "{0}.amin(DIM, keepdim=KEEP)",
            "{0}.max(DIM, keepdim=KEEP).values",
            "{0}.min(DIM, keepdim=KEEP).values",
            "{0}.norm(float('inf'), DIM, keepdim=KEEP)",
            "{0}.norm(2, DIM, keepdim=KEEP)",
            "{0}.sum(DIM, keepdim=KEEP)",
            "{0}.mean(DIM, keepdim=KEEP)",
        )
    ),
    *(
        Rule(1, over_dim(template))
        for template in (
            "{0}.norm(-float('inf'), DIM, keepdim=KEEP)",
            "{0}.norm(1, DIM, keepdim=KEEP)",
            "{0}.max(DIM).indices",
            "{0}.argmax(DIM, keepdim=KEEP)",
            "{0}.argmin(DIM)",
            "{0}.std(DIM, keepdim=KEEP)",
            "{0}.var(DIM, keepdim=KEEP)",
            "{0}.var(DIM, correction=0)",
            "torch.var({0}, DIM, correction=3)",
            "{0}.logsumexp(DIM, keepdim=KEEP)",
            "{0}.cumsum(DIM)",
            "torch.aminmax({0}, dim=DIM, keepdim=KEEP).max",
            "{0} - {0}.amax(DIM, keepdim=True)",
            "{0} / {0}.abs().amax(DIM, keepdim=True)",
            "{0} * ({0} == {0}.amax(DIM, keepdim=True))",
            "({0} > 0).any(DIM)",
            "({0} > 0).all(DIM, keepdim=KEEP)",
            "({0} > 0).sum(DIM)",
        )
    ),
    *(
        Rule(1, over_dim(template, _MOST_SORTED))
        for template in (
            "{0}.median(DIM, keepdim=KEEP).values",
            "{0}.sort(dim=DIM, stable=True).values",
            "{0}.kthvalue(1, DIM, keepdim=KEEP).values",
            "{0}.topk(1, DIM).values",
            "{0}.cummax(DIM).values",
        )
    ),
    *(
        Rule(1, _over_all(template))
        for template in ("{0}.sum()", "{0}.mean()", "{0}.amax()", "{0}.max()", "{0}.min()", "{0}.norm()", "{0}.var()")
    ),
    Rule(0.5, _over_all("{0}.median()", _MOST_SORTED)),
    Rule(0.5, _over_all("{0}.prod()", _MOST_MULTIPLIED)),
    Rule(0.5, over_dim("{0}.cumprod(DIM)", _MOST_MULTIPLIED)),
)

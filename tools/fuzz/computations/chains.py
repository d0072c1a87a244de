"""Lines that reduce what was reduced and spread out again, over the same and other dimensions; scans of scans."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.computations.reductions import over_dim
from dovetail.tools.fuzz.rules import Rule

_REDUCTIONS = ("sum",) * 6 + ("mean",) * 4 + ("amax", "amin", "norm", "var", "std", "logsumexp")
_SPREAD = (
    "{0} - {1}",
    "{0} - {1}",
    "{0} * {1}",
    "{0} / ({1}.abs() + 1)",
    "{1} - {0}.tanh()",
    "torch.where({0} > {1}, {0}, {1})",
    "({0} - {1}).square()",
    "({0} - {1}).abs()",
    "{1}.expand_as({0}) * 0.5",
)


def _reduction(draw: Random, dims: Sequence[int], keepdim: bool) -> str:
    """A call that reduces these dimensions of any tensor."""
    name = draw.choice(_REDUCTIONS)
    order = "2, " if name == "norm" else ""
    listed = str(tuple(dims)) if len(dims) > 1 else str(dims[0])
    return f"{name}({order}{listed}, keepdim={keepdim})"


def _dims(draw: Random, ndim: int) -> list[int]:
    return sorted(draw.sample(range(ndim), draw.choice([1, 1, 1, 2] if ndim > 1 else [1])))


def _chain(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    """Two or three reductions, each of what the one before gave, spread out over the tensor again."""
    tensor = tensors[0]
    if not is_real(tensor) or not tensor.ndim or not tensor.numel():
        return None
    dims = _dims(draw, tensor.ndim)
    lines = [f"{{0}}.{_reduction(draw, dims, keepdim=True)}", draw.choice(_SPREAD)]
    if draw.random() < 0.3:
        lines.append(f"{{2}}.{_reduction(draw, _dims(draw, tensor.ndim), keepdim=True)}")
        lines.append(draw.choice(_SPREAD).replace("{1}", "{3}"))
    last = len(lines)
    if draw.random() < 0.5:
        return "; ".join([*lines, f"{{{last}}}.{draw.choice(('sum', 'sum', 'mean', 'amax', 'norm'))}()"])
    others = _dims(draw, tensor.ndim)
    then = draw.choice([others, sorted({*dims, *others}), sorted({*dims, draw.randrange(tensor.ndim)})])
    return "; ".join([*lines, f"{{{last}}}.{_reduction(draw, then, draw.random() < 0.5)}"])


CHAINS = (
    Rule(12, _chain),
    *(
        Rule(1, over_dim(template))
        for template in (
            "{0}.sum(DIM).sum(); {0} * {1}",
            "{0}.sum(DIM, keepdim=True); {1}.expand_as({0}).sum(OTHER)",
            "{0}.mean(DIM, keepdim=True); ({0} - {1}).mean(OTHER, keepdim=True); ({0} - {2}).mean()",
            "{0}.amax(DIM, keepdim=True); ({0} == {1}).sum(OTHER)",
            "{0}.argmax(DIM, keepdim=True); {0}.gather(DIM, {1}).sum()",
            "{0}.cumsum(DIM); {1} - {0}.sum(DIM, keepdim=True); {2}.amax(OTHER)",
            "{0}.cumsum(DIM); {1}.flip(DIM).cumsum(OTHER)",
            "{0}.cumsum(OTHER).amax(DIM, keepdim=True); ({0} - {1}).sum()",
            "{0}.softmax(DIM); ({1} * {0}).sum(DIM, keepdim=True); ({0} - {2}).square().sum(OTHER)",
            "{0}.sum(DIM); {1} * {1}.amax(); {2}.sum()",
        )
    ),
)

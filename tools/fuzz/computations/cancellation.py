"""Lines in which products and squares cancel, before what tells: roots, logarithms, divisions, comparisons, softmax."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.computations.reductions import over_dim
from dovetail.tools.fuzz.rules import Make, Rule

_EQUAL = "{0} * 2 - {0}"  # exactly, and no compiler makes one value of the two

# Zero where the operands are equal; the first wherever they are.
_DIFFERENCES = (
    "({0} * {1} - {1} * {0})",
    "({0} * {0} - {1} * {1})",
    "({0} * {0} - {1} * {1})",
    "({0} * {1} - {1} * {1})",
    "({0} * {0} - {1}.square())",
    "({0}.square() - {1}.square())",
    "(-{0} * {0} + {1} ** 2)",
    "({0} * 0.3 - {1} * 0.3)",
    "({0}.tanh() * {0} - {1} * {1}.tanh())",
    "({0}.square() * {0} - {1} * {1} * {1})",
    "({0}.sum() * {0} - {1}.sum() * {1})",
    "(1 + {0} * {0} - (1 + {1} * {1}))",
    "(({0} - {1}) * ({0} + {1}))",
    "({0} - {1} * {1} / {1})",
)
_TOLD = {
    "DIFFERENCE": 2,
    "DIFFERENCE.sqrt()": 3,
    "DIFFERENCE; RESULT.sum()": 2,
    "DIFFERENCE; RESULT.norm()": 1,
    "DIFFERENCE; RESULT.amax() - RESULT.amin()": 1,
    "(DIFFERENCE + 1).log()": 1,
    "DIFFERENCE.log()": 0.5,
    "{0} / (DIFFERENCE + 0.5)": 1,
    "DIFFERENCE / DIFFERENCE": 0.5,
    "DIFFERENCE.sign() * {0}": 1,
    "DIFFERENCE.rsqrt().clamp(max=1e3)": 1,
    "DIFFERENCE > 0": 0.5,
    "DIFFERENCE == 0": 0.5,
    "torch.where(DIFFERENCE < 0, {0}, {1})": 0.5,
}


def _told(told: str, difference: str) -> Make:
    """The line over two tensors, most of which are made equal."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        if not is_real(tensors[0]):
            return None
        line = told.replace("DIFFERENCE", difference)
        if draw.random() < 0.6:
            return f"{_EQUAL}; {line.replace('{1}', '{2}').replace('RESULT', '{3}')}"
        return line.replace("RESULT", "{2}")

    return make


CANCELLATION = (
    *(
        Rule(0.2 * weight, _told(told, difference), operands=2)
        for told, weight in _TOLD.items()
        for difference in _DIFFERENCES
    ),
    *(
        Rule(2, over_dim(template))
        for template in (
            "({0} * {0}).softmax(DIM)",
            "({0} * {0}).log_softmax(DIM)",
            "{0}.square().logsumexp(DIM)",
            "{0} * {0}; {1} - {1}.amax(DIM, keepdim=True); {2}.exp()",
            "({0} * {0}).mean(DIM) - {0}.mean(DIM).square(); ({1} + 1e-3).sqrt()",
            "({0} * {0}).sum(DIM, keepdim=True); ({1} - {0} * {0}).sqrt()",
            "(1 - {0}.tanh() ** 2).sqrt()",
            "(1 - {0}.cos().square()).clamp(min=0).sqrt()",
        )
    ),
    *(
        Rule(2, over_dim(template), operands=2)
        for template in (
            "({0} * {1}).softmax(DIM)",
            "({0} - {1}).norm(2, DIM)",
            "({0} * {0} - {1} * {1}).norm(2, DIM, keepdim=KEEP)",
            "({0} * {0} - {1} * {1}).amax(DIM)",
        )
    ),
)

"""Lines over integers, over numbers of several types, and with numbers in the text that a type can't hold."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.rules import Make, Rule, always, some_dim, where

_WHOLE = "({0}.nan_to_num(0.0, 9.0, -9.0).clamp(-9, 9) * 8).to(torch.TYPE)"
_TYPES = ("int64", "int64", "int32", "int32", "int16", "int8")


def whole(template: str) -> Make:
    """The line over whole numbers, which real ones are cast to before."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        first, dim = tensors[0], some_dim(draw, tensors[0])
        if first.dtype == torch.bool or ("DIM" in template and dim is None):
            return None
        line = template.replace("DIM", str(dim))
        if not is_real(first):
            return line
        return f"{_WHOLE.replace('TYPE', draw.choice(_TYPES))}; {line.replace('{0}', '{1}')}"

    return make


MIXED_TYPES = (
    *(
        Rule(1, whole(template))
        for template in (
            "{0} // 3",
            "{0} // -4",
            "{0} % 3",
            "torch.remainder({0}, -5)",
            "torch.fmod({0}, 3)",
            "torch.div({0}, 4, rounding_mode='trunc')",
            "{0} >> 1",
            "{0} << 2",
            "{0} & 6",
            "({0} | 5) ^ 3",
            "~{0}",
            "{0} / 3",
            "{0} * 0.5",
            "{0} ** 2",
            "{0}.sum(DIM)",
            "{0}.cumsum(DIM)",
            "{0}.amax(DIM, keepdim=True); {0} - {1}",
            "{0}.to(torch.float32).mean(DIM)",
            "torch.where({0} > 2, {0}, 7)",
            "{0}.to(torch.uint8)",
            "{0}.bool().sum(DIM) % 2",
        )
    ),
    *(
        Rule(1, where(is_real, template))
        for template in (
            "{0} // 0.3",
            "{0} % 0.75",
            "torch.fmod({0}, -0.75)",
            "torch.div({0}, 0.25, rounding_mode='floor')",
            "{0} * 1e5 * 1e-5",
            "{0} + 1e-9",
            "{0} / 65536.0",
            "{0} - 1e4",
            "{0}.clamp(max=1e6)",
            "{0}.abs() ** 0.5",
            "2.0 ** {0}",
            "{0} > 1e-8",
            "{0} == 0.1",
            "torch.where({0} > 0, 1e4, {0})",
            "torch.full_like({0}, 0.1) + {0}",
            "{0} * True + 3",
        )
    ),
    *(
        Rule(1, always(template))
        for template in (
            "{0} + torch.tensor(0.3)",
            "{0} * torch.tensor(2, dtype=torch.float64)",
            "{0} + torch.tensor([0.5], dtype=torch.float64)",
            "{0} * torch.arange(1, 2)",
            "{0} + torch.ones(1, dtype=torch.bfloat16)",
            "{0}.double() / 3",
        )
    ),
    Rule(1, always("{0} * {1}.to(torch.bfloat16)"), operands=2),
    Rule(1, always("{0} + {1}.to(torch.float64)"), operands=2),
    Rule(1, always("{0} - {1}.to(torch.float16)"), operands=2),
    Rule(1, where(is_real, "{0} * ({1} * 4).to(torch.int32)"), operands=2),
)

"""The arguments of a program: their shapes and types."""

import math
from random import Random

from dovetail.tools.fuzz.computations.inputs import REAL
from dovetail.tools.fuzz.program import Parameter

_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33)
_LARGE_SHAPES = (
    (1000, 1001),
    (997, 1009),
    (1, 999983),
    (524287,),
    (1048576,),
    (65537, 7),
    (7, 65537),
    (64, 1024),
    (31, 64, 127),
    (8, 16, 63, 65),
    (2, 3, 211, 223),
    (4, 32, 512),
    (255, 257),
    (32768,),
)
_DTYPES = ("torch.float32",) * 34 + ("torch.float64", "torch.bfloat16", "torch.float16", "torch.int64", "torch.bool")
_LARGEST_SMALL = 5000  # elements of an argument that is not large


def draw_parameters(draw: Random, large: bool) -> tuple[Parameter, ...]:
    """One to three, `large` ones of 32,768 to 1,048,576 elements.

    Later ones mostly have the first one's shape, or that of its last dimension.
    """
    shape = _shape(draw, large)
    found = [Parameter("x0", shape, draw.choice([each for each in _DTYPES if each in REAL]))]
    for number in range(1, draw.choices((1, 2, 3), (5, 6, 2))[0]):
        spread = tuple(draw.choice((1, size)) for size in shape)
        other = draw.choice([shape] * 6 + [shape[-1:]] * 2 + [spread, (), _shape(draw, large), _shape(draw, large)])
        found.append(Parameter(f"x{number}", other, draw.choice([found[0].dtype] * 6 + [*_DTYPES])))
    return tuple(found)


def _shape(draw: Random, large: bool) -> tuple[int, ...]:
    if large:
        return draw.choice(_LARGE_SHAPES)
    dims = draw.choices((0, 1, 2, 3, 4), (1, 3, 9, 4, 3))[0]
    shape = tuple(draw.choice(_SIZES) for _ in range(dims))
    while math.prod(shape) > _LARGEST_SMALL:
        shape = tuple(draw.choice(_SIZES) for _ in range(dims))
    return (0, *shape[1:]) if dims and draw.random() < 0.02 else shape

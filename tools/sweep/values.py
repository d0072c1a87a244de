"""The tensors that the sweep calls ops on: ordinary, special and subnormal values in several shapes."""

import math

import torch

FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
CLASSES = ("ordinary", "special", "beyond", "subnormal")
"""Of values: "beyond" holds those on both sides of where integer types end."""

# Name of a shape to the shapes of the slots x, y and z.
SHAPES = {
    "full": ((16, 16), (16, 16), (16, 16)),
    "broadcast": ((16, 1), (1, 16), (16,)),
    "odd": ((3, 5, 7), (3, 5, 7), (3, 5, 7)),  # vectors and a tail
    "one": ((1,), (1,), (1,)),
    "scalar": ((), (), ()),
    "empty": ((0, 3), (0, 3), (0, 3)),
}


def values(dtype: torch.dtype, which: str) -> torch.Tensor:
    """16 values of a class: one dimension, dtype `dtype`."""
    if dtype is torch.bool:
        return torch.tensor([True, False, False, True] * 4)
    return _floats(dtype, which) if dtype.is_floating_point else _integers(dtype, which)


def _integers(dtype: torch.dtype, which: str) -> torch.Tensor:
    info = torch.iinfo(dtype)
    extremes = [info.min, info.max, 0, 1, info.max - 1, info.min + 1, 2, 3]
    beyond = [200, 255, 128, 300, -1, -129, 127, -128, 40000, 32767, -32769, 65535, 1 << 31, 1 << 40, -(1 << 35) - 3, 0]
    if which == "beyond":
        return torch.tensor(beyond).to(dtype)
    ordinary = [-7, -5, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 63]
    picked = (extremes * 2) if which == "special" else ordinary
    return torch.tensor([value if info.min <= value <= info.max else -value for value in picked], dtype=dtype)


def _floats(dtype: torch.dtype, which: str) -> torch.Tensor:
    info = torch.finfo(dtype)
    if which == "subnormal":
        small = info.smallest_normal * torch.tensor([0.5, -0.5, 0.25, -0.75], dtype=torch.float64)
        return torch.cat([small, torch.tensor([0.0, 1.0, -2.0, 0.5], dtype=torch.float64)]).repeat(2).to(dtype)
    beyond = [
        200,
        255.5,
        128,
        300,
        -1,
        -0.7,
        -129.9,
        127.5,
        -128,
        32767.9,
        -40001,
        65535,
        2**31 + 5,
        -(2**40) - 77,
        1e19,
    ]
    if which == "beyond":
        return torch.tensor([*beyond, math.nan], dtype=torch.float64).to(dtype)
    special = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, info.max, info.min, info.smallest_normal]
    special += [info.eps, 0.5, -2.5, 3.0, 12345.67, -88.9]
    ordinary = [-20.25, -9.3, -3.7, -2.5, -1.5, -1.0, -0.5, -0.1, 0.1, 0.3, 0.5, 1.0, 1.5, 2.5, 3.2, 10.25]
    return torch.tensor(special if which == "special" else ordinary, dtype=torch.float64).to(dtype)


def tensor(slot: str, shape: str, dtype: torch.dtype, which: str) -> torch.Tensor:
    """The tensor of a slot. Over x, y and z of shape "full" every pair of values meets.

    Slot "rows" is for reductions: each row holds ordinary values and another few special ones.
    """
    count = values(dtype, which)
    sizes = SHAPES[shape]
    if slot == "rows":
        return _rows(dtype, which).reshape(-1)[: math.prod(sizes[0])].reshape(sizes[0]).clone()
    if slot == "mask":
        return (torch.arange(math.prod(sizes[1])) % 3 == 0).reshape(sizes[1])
    size = sizes["xyz".index(slot)]
    every = {"x": count.repeat_interleave(16), "y": count.repeat(16), "z": count.roll(5).repeat(16).flip(0)}[slot]
    # Mixed, so that the first few, and those of one vector, differ.
    every = count if shape == "broadcast" else every[(torch.arange(256) * 37) % 256]
    return every[: math.prod(size)].reshape(size).clone()


def _rows(dtype: torch.dtype, which: str) -> torch.Tensor:
    rows = values(dtype, "ordinary").repeat(16, 1)
    rows = torch.stack([row.roll(3 * index) for index, row in enumerate(rows)])
    if which == "ordinary":
        return rows
    hard = values(dtype, which)
    for index in range(1, 16):
        rows[index, index % 5 :: 4][:3] = hard[index]
        rows[index, -1] = hard[(index * 7) % 16] if index % 2 else rows[index, -1]
    rows[12, 3] = rows[12, 9] = rows[13, 6] = hard[0]
    rows[14, :] = hard[2]
    rows[15, :] = hard[0]
    return rows

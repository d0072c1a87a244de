"""Lines that make views, and tensors that share memory without being views."""

import math
from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.rules import Rule, always, part, some_dim, where


def index(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    """A part of a tensor, None of what has none."""
    found = part(draw, tensors[0])
    return f"{{0}}[{found}]" if found else None


def _narrow(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    dim = some_dim(draw, tensors[0])
    if dim is None:
        return None
    size = tensors[0].shape[dim]
    start = draw.randint(0, size)
    return f"{{0}}.narrow({dim}, {start}, {draw.randint(0, size - start)})"


def _transpose(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    first, second = some_dim(draw, tensors[0]), some_dim(draw, tensors[0])
    return None if first is None else f"{{0}}.transpose({first}, {second})"


def permute(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    """Its dimensions in another order, None of what has fewer than two."""
    dims = list(range(tensors[0].ndim))
    draw.shuffle(dims)
    return f"{{0}}.permute({', '.join(map(str, dims))})" if len(dims) > 1 else None


def _reshape(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    count = tensors[0].numel()
    if not count:
        return None
    rows = draw.choice([each for each in range(1, count + 1) if count % each == 0])
    sizes = draw.choice(["-1", f"{rows}, {count // rows}", f"{rows}, -1", ", ".join(map(str, tensors[0].shape))])
    return f"{{0}}.{draw.choice(['view', 'reshape'])}({sizes})" if sizes else None


def _unsqueeze(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    return f"{{0}}.unsqueeze({draw.randint(-1, tensors[0].ndim)})" if tensors[0].ndim < 4 else None


def _expand(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    sizes = [draw.choice([1, 2, 3]) if size == 1 else size for size in tensors[0].shape]
    if tensors[0].ndim < 3 and draw.random() < 0.5:
        sizes = [2, *sizes]
    return f"{{0}}.expand({', '.join(map(str, sizes))})" if sizes else None


def _split(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    dim = some_dim(draw, tensors[0])
    if dim is None or tensors[0].shape[dim] < 2:
        return None
    size = tensors[0].shape[dim]
    pieces = draw.randint(1, size)
    kind = draw.choice(["split", "chunk", "unbind"])
    if kind == "unbind":
        return f"{{0}}.unbind({dim})[{draw.randrange(size)}]"
    length = pieces if kind == "split" else math.ceil(size / pieces)
    count = math.ceil(size / length)
    return f"{{0}}.{kind}({pieces}, {dim})[{draw.randrange(count)}]"


def _as_strided(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    # Within the memory of a dense tensor, relative to its own offset.
    if not _is_all_of_its_memory(tensors[0]):
        return None
    return draw.choice(["{0}.as_strided((2, 2), (1, 2))", "{0}.as_strided((2,), (2,), 1)"])


def _is_all_of_its_memory(tensor: torch.Tensor) -> bool:
    return tensor.numel() >= 4 and tensor.is_contiguous() and not tensor.storage_offset()


def _window(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    # Rows that lie over one another.
    if not _is_all_of_its_memory(tensors[0]):
        return None
    sizes, strides = draw.choice([((2, 2), (1, 1)), ((3, 2), (1, 1)), ((2, 3), (1, 1)), ((2, 2), (0, 1))])
    return f"{{0}}.as_strided({sizes}, {strides})"


def _unfold(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    dim = some_dim(draw, tensors[0])
    if dim is None or tensors[0].shape[dim] < 2:
        return None
    return f"{{0}}.unfold({dim}, 2, {draw.choice([1, 1, 2])})"


VIEWS = (
    Rule(8, index),
    Rule(2, _narrow),
    Rule(2, where(lambda each: each.ndim == 2, "{0}.t()")),
    Rule(2, _transpose),
    Rule(1, permute),
    Rule(5, _reshape),
    Rule(2, _unsqueeze),
    Rule(1, always("{0}.squeeze()")),
    Rule(2, _expand),
    Rule(1.5, where(lambda each: each.ndim >= 2, "{0}.diagonal()")),
    Rule(4, _split),
    Rule(1, where(lambda each: each.ndim >= 2, "{0}.flatten()")),
    Rule(1, always("{0}[...]")),
    Rule(0.7, always("{0}.view_as({0})")),
    Rule(0.5, _as_strided),
    Rule(0.3, where(lambda each: each.dtype == torch.float32 and not each.requires_grad, "{0}.view(torch.int32)")),
    Rule(2, where(torch.is_complex, "torch.view_as_real({0})")),
)

# Views that show an element more than once; a write through them is one to each of its places.
WINDOWS = (Rule(3, _window), Rule(2, _unfold), Rule(1, _expand))

DETACHED = (Rule(3, always("{0}.detach()")), Rule(2, always("{0}.data")))

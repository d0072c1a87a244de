"""Lines that read and write by index: gather, scatter, embeddings."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.rules import Make, Rule, some_dim

_F = "torch.nn.functional"
_MOST = 1 << 16  # elements; scattering is slow


def _by_index(template: str, dims: int = 1) -> Make:
    """DIM is a dimension, SIZE its size, COUNT how many are read, STEP how far they are apart."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        tensor, dim = tensors[0], some_dim(draw, tensors[0])
        if dim is None or tensor.ndim < dims or not 0 < tensor.numel() <= _MOST or not tensor.is_floating_point():
            return None
        words = {"DIM": dim, "SIZE": tensor.shape[dim], "COUNT": draw.randint(1, 7), "STEP": draw.choice((1, 3, 5))}
        filled = template.replace("ROWS", str(tensor.shape[0]))
        for word, value in words.items():
            filled = filled.replace(word, str(value))
        return filled

    return make


INDEXING = tuple(
    Rule(1, _by_index(template, dims))
    for template, dims in (
        ("{0}.index_select(DIM, torch.arange(COUNT) * STEP % SIZE)", 1),
        ("{0}[torch.arange(COUNT) * STEP % ROWS]", 1),
        ("{0}.gather(DIM, {0}.argsort(DIM, stable=True))", 1),
        ("{0}.gather(DIM, {0}.argmax(DIM, keepdim=True))", 1),
        ("torch.take_along_dim({0}, {0}.argmin(DIM, keepdim=True), DIM)", 1),
        ("{0}.index_add(0, torch.arange(ROWS) * STEP % ROWS, {0})", 1),
        ("{0}.scatter_add(DIM, {0}.argsort(DIM, stable=True), {0})", 1),
        ("torch.zeros_like({0}).scatter(DIM, {0}.argmax(DIM, keepdim=True), 2.0)", 1),
        ("{0}.index_put((torch.arange(COUNT) * STEP % ROWS,), {0}[0] * 2, accumulate=True)", 1),
        ("{0}.index_fill(DIM, torch.arange(1), 0.5)", 1),
        (f"{_F}.embedding(torch.arange(COUNT * 2).view(2, -1) * STEP % ROWS, {{0}})", 2),
        (f"{_F}.embedding_bag(torch.arange(COUNT * 2).view(2, -1) * STEP % ROWS, {{0}})", 2),
    )
)

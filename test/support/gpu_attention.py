"""Attention as an H100 takes it, for the emulated GPU: which kernel PyTorch calls, and how that lays out what it gives.

Of float32 that is `_scaled_dot_product_efficient_attention`, of half precision cuDNN's, both with the CPU's arithmetic.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.library import Library

aten = torch.ops.aten


@contextmanager
def gpu_attention() -> Iterator[None]:
    """Has emulated tensors attended to by these kernels inside of the block."""
    library = Library("aten", "IMPL")
    for kernel in (_efficient, _efficient_backward, _cudnn, _cudnn_backward):
        name = kernel.__name__.removesuffix("_backward")
        library.impl(f"_scaled_dot_product{name}_attention{kernel.__name__.removeprefix(name)}", kernel, "CUDA")
    for key in ("AutogradCUDA", "CUDA"):
        library.impl("scaled_dot_product_attention", _attention, key)
    try:
        yield
    finally:
        library._destroy()


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    needs_sums = torch.is_grad_enabled() and any(each.requires_grad for each in (query, key, value))
    given = query, key, value, attn_mask, needs_sums, dropout_p, is_causal
    is_single = query.dtype is torch.float32
    called = aten._scaled_dot_product_efficient_attention if is_single else aten._scaled_dot_product_cudnn_attention
    return called(*given, scale=scale)[0]


def _efficient(query, key, value, bias, needs_sums, dropout=0.0, is_causal=False, *, scale=None):
    weights, sums = _weights(query, key, bias, is_causal, scale)
    return _heads_together(weights @ value), sums, *_no_draws(query)


def _efficient_backward(
    gradient, query, key, value, bias, out, sums, seed, offset, dropout, which, is_causal=False, *, scale=None
):
    found = _gradients(gradient, query, key, value, bias, is_causal, scale)
    return *map(_heads_together, found), None


def _cudnn(query, key, value, bias, needs_sums, dropout=0.0, is_causal=False, is_debug=False, *, scale=None):
    weights, sums = _weights(query, key, bias, is_causal, scale)
    result = _as(weights @ value.float(), query)
    return result, sums.unsqueeze(-1), None, None, query.size(2), key.size(2), *_no_draws(query), None


def _cudnn_backward(
    gradient,
    query,
    key,
    value,
    out,
    sums,
    seed,
    offset,
    bias,
    of_q,
    of_k,
    longest_q,
    longest_k,
    dropout,
    is_causal,
    *,
    scale=None,
):
    found = _gradients(gradient, query, key, value, bias, is_causal, scale)
    return tuple(map(_as, found, (query, key, value)))


def _weights(query, key, bias, is_causal, scale):
    scores = query.float() @ key.float().transpose(-1, -2) * (scale or query.size(-1) ** -0.5)
    if is_causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    scores = scores if bias is None else scores + bias
    return torch.softmax(scores, -1), torch.logsumexp(scores, -1)


def _gradients(gradient, query, key, value, bias, is_causal, scale):
    weights, _ = _weights(query, key, bias, is_causal, scale)
    of_weights = gradient.float() @ value.float().transpose(-1, -2)
    of_scores = (
        weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True)) * (scale or query.size(-1) ** -0.5)
    )
    return (
        of_scores @ key.float(),
        of_scores.transpose(-1, -2) @ query.float(),
        weights.transpose(-1, -2) @ gradient.float(),
    )


def _heads_together(tensor):
    return tensor.transpose(1, 2).contiguous().transpose(1, 2)


def _as(tensor, other):
    return torch.empty_like(other).copy_(tensor)


def _no_draws(query):
    return tuple(torch.zeros((), dtype=torch.long, device=query.device) for _ in range(2))

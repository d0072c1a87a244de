"""Recurrent networks in parts, layer by layer: those that PyTorch has in Python lose what is between the layers.

They drop nothing out there. And where only weights need gradients, those of an LSTM take a kernel that has none.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import torch
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves, tree_map

_aten = torch.ops.aten


@cache
def recurrent_layers() -> dict[OpOverload, Callable]:
    """By the overload, a function that takes and returns what it does."""
    packets = (_aten.lstm, _aten.gru, _aten.rnn_tanh, _aten.rnn_relu)
    return {packet.input: partial(_layers, decomposition_table[packet.input]) for packet in packets}


def _layers(
    parts: Callable,
    value: torch.Tensor,
    states: torch.Tensor | Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    has_biases: bool,
    number: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, ...]:
    """The kernels in C++ drop out of what is laid out by steps first, so the same elements are drawn."""
    value = value.transpose(0, 1) if batch_first else value
    lasts = []
    for layer in range(number):
        value = torch.dropout(value, dropout, train) if layer and dropout else value
        of_layer = weights[layer * len(weights) // number : (layer + 1) * len(weights) // number]
        begun = tree_map(partial(_of_layer, 1 + bidirectional, layer), states)
        value = _tracked(value, [*tree_leaves(begun), *of_layer])
        value, *last = parts(value, begun, of_layer, has_biases, 1, 0.0, train, bidirectional, False)
        lasts.append(last)
    ends = (torch.cat(state) for state in zip(*lasts, strict=True))
    return value.transpose(0, 1) if batch_first else value, *ends


def _of_layer(directions: int, layer: int, states: torch.Tensor) -> torch.Tensor:
    return states[layer * directions : (layer + 1) * directions]


def _tracked(value: torch.Tensor, others: Sequence[torch.Tensor]) -> torch.Tensor:
    """`value`, requiring a gradient where `others` do: by that alone PyTorch chooses the parts of an LSTM."""
    differentiated = torch.is_grad_enabled() and any(other.requires_grad for other in others)
    return value.detach().requires_grad_() if differentiated and not value.requires_grad else value

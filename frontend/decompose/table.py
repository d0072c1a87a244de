"""Which ATen ops are decomposed while the joint graph is traced: PyTorch's core set, and what rows say of others."""

from collections.abc import Callable
from functools import cache

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from dovetail.dialects.torch_facts.row import Traced
from dovetail.dialects.torch_facts.rows import OPS
from dovetail.frontend.decompose.arithmetic import unfused_multiply_add
from dovetail.frontend.decompose.foreach import foreach_decompositions
from dovetail.frontend.decompose.norms import group_norm, layer_norm, layer_norm_backward
from dovetail.frontend.decompose.replacements import REPLACEMENTS

aten = torch.ops.aten


def _traced(how: Traced) -> list[torch._ops.OpOverloadPacket]:
    return [getattr(aten, row.name) for row in OPS if row.traced is how]


@cache
def _table() -> dict[torch._ops.OpOverload, Callable]:
    table = {
        **core_aten_decompositions(),
        **get_decompositions(_traced(Traced.IN_PARTS)),
        **foreach_decompositions(),
        **REPLACEMENTS,
    }
    table[aten.native_group_norm.default] = group_norm
    table[aten.native_layer_norm.default] = layer_norm
    table[aten.native_layer_norm_backward.default] = layer_norm_backward
    return {overload: function for overload, function in table.items() if overload not in _whole()}


@cache
def _whole() -> frozenset[torch._ops.OpOverload]:
    return frozenset(getattr(packet, name) for packet in _traced(Traced.WHOLE) for name in packet.overloads())


def decompositions() -> dict[torch._ops.OpOverload, Callable]:
    """The table for the capture: overload to the function that computes it from simpler ops."""
    # Dynamo defines this op when it first emits one, so it may come into being later than the rest of the table.
    fma = getattr(torch.ops.prims, "fma", None)
    return _table() if fma is None else {**_table(), fma.default: unfused_multiply_add}


def decided() -> frozenset[torch._ops.OpOverload]:
    """The overloads whose rows or replacements say how they are traced, whatever kernels in Python PyTorch has."""
    return _whole().union(REPLACEMENTS)

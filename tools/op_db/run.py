"""Runs a program eagerly or compiled and keeps what a caller sees of it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_leaves

from dovetail.tools.op_db.cases import Program


@dataclass(frozen=True)
class Seen:
    """Results, arguments after the call, and what autograd has accumulated in arguments, by name, in order."""

    results: dict[str, object]


def run(program: Program, function: Callable) -> Seen:
    """Calls `function` with copies of the program's tensors, and differentiates what can be."""
    tensors = [_copy(tensor) for tensor in program.tensors]
    torch.manual_seed(1)
    leaves = tree_leaves(function(*tensors))
    seen: dict[str, object] = {f"result {index}": leaf for index, leaf in enumerate(leaves)}
    seen.update({f"argument {index} after the call": tensor.detach() for index, tensor in enumerate(tensors)})
    results = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    sources = [tensor for tensor in tensors if tensor.requires_grad]
    if results and sources:
        torch.manual_seed(2)
        tangents = [program.handed_in(_tangent(result)) for result in results]
        torch.autograd.backward(results, tangents, inputs=sources)
        seen.update({f"gradient {index}": source.grad for index, source in enumerate(sources)})
    return Seen(seen)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, strides and conjugation in other memory, a leaf where the original is one."""
    if tensor.layout is not torch.strided:
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    with torch.no_grad():
        extent = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
        memory = tensor.as_strided((extent if tensor.numel() else 0,), (1,)).clone()
        copied = memory.as_strided(tensor.shape, tensor.stride())
    return copied.detach().requires_grad_(tensor.requires_grad)


def _tangent(result: torch.Tensor) -> torch.Tensor:
    """Numbers that every precision holds exactly."""
    dtype = result.dtype.to_real() if result.dtype.is_complex else result.dtype
    tangent = torch.randint(1, 5, result.shape, device=result.device).to(dtype) / 4
    return torch.complex(tangent, -tangent).to(result.dtype) if result.dtype.is_complex else tangent

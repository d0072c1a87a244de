"""Which samples of PyTorch's table are run, and a sample as a function of its tensors."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

DTYPES = ("float32", "float64", "bfloat16", "int64", "bool", "complex64")
OTHER = {
    torch.float32: torch.float64,
    torch.float64: torch.float32,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
    torch.int64: torch.float64,
    torch.bool: torch.float64,
}
"""In which precision a sample is computed once more, to know how far off eager is."""
_OPS: dict[str, OpInfo] = {op.full_name: op for op in op_db}


@dataclass(frozen=True)
class Case:
    """One sample: the op's name in the table with its variant, the element type's name, and the sample's number."""

    op: str
    dtype: str
    number: int

    def __str__(self) -> str:
        return f"{self.op}, {self.dtype}, sample {self.number}"


@dataclass(frozen=True)
class Program:
    """A sample as a function of tensors; everything else that it was given is part of the function."""

    function: Callable
    tensors: tuple[torch.Tensor, ...]


def all_cases(ops: Iterable[str], dtypes: Iterable[str], samples: int) -> Iterator[Case]:
    """The first `samples` numbers of each op that takes an element type, whether or not it has as many samples.

    Raises:
        KeyError: for an op that the table lacks.
    """
    for name in ops or _OPS:
        for dtype in dtypes:
            if _OPS[name].supports_dtype(getattr(torch, dtype), "cpu"):
                yield from (Case(name, dtype, number) for number in range(samples))


def program(case: Case) -> Program | None:
    """The sample as a program; None where the op has fewer samples. The same values at each call."""
    sample = _sample(case, is_differentiable(case))
    return None if sample is None else _program(_OPS[case.op], sample)


def in_other_precision(case: Case) -> Program | None:
    """The same sample in the other precision, where the op takes it; None where there is no such sample."""
    narrow = program(case)
    dtype = getattr(torch, case.dtype)
    if narrow is None:
        return None

    def other(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(OTHER[dtype]) if tensor.dtype == dtype else tensor

    def other_dtype(given: torch.dtype) -> torch.dtype:
        return OTHER[dtype] if given == dtype else given

    op, sample = _OPS[case.op], _sample(case, requires_grad=False)
    args, kwargs = tree_map_only(torch.dtype, other_dtype, (sample.args, sample.kwargs))
    same = _program(op, SampleInput(sample.input, args=args, kwargs=kwargs))
    tensors = tuple(
        other(tensor.detach()).requires_grad_(given.requires_grad)
        for tensor, given in zip(same.tensors, narrow.tensors, strict=True)
    )
    return Program(same.function, tensors)


def is_differentiable(case: Case) -> bool:
    """Whether the op has gradients in this element type."""
    op = _OPS[case.op]
    return op.supports_autograd and getattr(torch, case.dtype) in op.supported_backward_dtypes("cpu")


def _sample(case: Case, requires_grad: bool) -> Any:
    """PyTorch's sample, None after the last one."""
    torch.manual_seed(0)
    samples = _OPS[case.op].sample_inputs("cpu", getattr(torch, case.dtype), requires_grad=requires_grad)
    return next(itertools.islice(samples, case.number, None), None)


def _program(op: OpInfo, sample: SampleInput) -> Program:
    leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def function(*tensors):
        filled = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            filled[place] = tensor
        first, args, kwargs = tree_unflatten(filled, spec)
        return op.op(first, *args, **kwargs)

    return Program(function, tuple(leaves[place] for place in places))

"""Which samples of PyTorch's table are run, and a sample as a function of its tensors."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

DTYPES = ("float32", "float64", "bfloat16", "int64", "bool", "complex64")
WIDER = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.complex64: torch.complex128}
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
    op, dtype = _OPS[case.op], getattr(torch, case.dtype)
    torch.manual_seed(0)
    samples = op.sample_inputs("cpu", dtype, requires_grad=is_differentiable(case))
    sample = next(itertools.islice(samples, case.number, None), None)
    return None if sample is None else _program(op, sample)


def widened(case: Case) -> Program | None:
    """The same sample in double precision; None where the element type is whole or double already."""
    wider = WIDER.get(getattr(torch, case.dtype))
    narrow = None if wider is None else program(case)
    if wider is None or narrow is None:
        return None
    op = _OPS[case.op]
    torch.manual_seed(0)
    samples = op.sample_inputs("cpu", getattr(torch, case.dtype), requires_grad=False)
    sample = next(itertools.islice(samples, case.number, None))

    def wide(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(WIDER[tensor.dtype]) if tensor.dtype in WIDER else tensor

    def wide_dtype(dtype: torch.dtype) -> torch.dtype:
        return WIDER.get(dtype, dtype)

    parts = tree_map_only(torch.dtype, wide_dtype, (sample.args, sample.kwargs))
    doubled = _program(op, SampleInput(sample.input, args=parts[0], kwargs=parts[1]))
    tensors = tuple(
        wide(tensor.detach()).requires_grad_(given.requires_grad)
        for tensor, given in zip(doubled.tensors, narrow.tensors, strict=True)
    )
    return Program(doubled.function, tensors)


def is_differentiable(case: Case) -> bool:
    """Whether the op has gradients in this element type."""
    dtype = getattr(torch, case.dtype)
    return _OPS[case.op].supports_autograd and _OPS[case.op].supported_backward_dtypes("cpu").__contains__(dtype)


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

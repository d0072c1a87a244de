"""Which samples of PyTorch's table are run, and a sample as a function of its tensors."""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten, tree_map_only, tree_unflatten

if TYPE_CHECKING:
    from torch.testing._internal.opinfo.core import OpInfo, SampleInput

DTYPES = ("float32", "float64", "bfloat16", "int64", "bool", "complex64")
WIDER = {
    torch.float32: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
    torch.int64: torch.float64,
    torch.bool: torch.float64,
}
"""In which precision a sample is computed once more, to know how far off eager is."""


@functools.cache
def _ops() -> dict[str, "OpInfo"]:
    from torch.testing._internal.common_methods_invocations import op_db  # takes seconds to import

    return {op.full_name: op for op in op_db}


@dataclass(frozen=True)
class Case:
    """One sample: the op's name in the table with its variant, the element type, the sample's number, the device.

    One that is `dynamic` is compiled with all sizes open, as `torch.compile(dynamic=True)` does.
    """

    op: str
    dtype: str
    number: int
    device: str = "cpu"
    dynamic: bool = False

    def __str__(self) -> str:
        where = "" if self.device == "cpu" else f", on {self.device}"
        return f"{self.op}, {self.compiled_for}, sample {self.number}{where}"

    @property
    def compiled_for(self) -> str:
        """The element type, and whether sizes are open."""
        return f"{self.dtype}, dynamic=True" if self.dynamic else self.dtype


@dataclass(frozen=True)
class Program:
    """A sample as a function of tensors; everything else that it was given is part of the function.

    Its results' gradients are handed in through `handed_in`, which changes them as little as the tensors were.
    """

    function: Callable
    tensors: tuple[torch.Tensor, ...]
    handed_in: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.clone


def all_cases(
    ops: Iterable[str], dtypes: Iterable[str], samples: int, device: str = "cpu", dynamic: bool = False
) -> Iterator[Case]:
    """The first `samples` numbers of each op that takes an element type, whether or not it has as many samples.

    Raises:
        KeyError: for an op that the table lacks.
    """
    for name in ops or _ops():
        for dtype in dtypes:
            if _ops()[name].supports_dtype(getattr(torch, dtype), device):
                yield from (Case(name, dtype, number, device, dynamic) for number in range(samples))


def program(case: Case) -> Program | None:
    """The sample as a program; None where the op has fewer samples. The same values at each call."""
    sample = _sample(case, is_differentiable(case))
    return None if sample is None else _program(_ops()[case.op], sample)


def widened(case: Case) -> Program | None:
    """The same sample in a wider precision; None where there is no such sample, or no wider precision."""
    narrow, dtype = program(case), getattr(torch, case.dtype)
    if narrow is None or dtype not in WIDER:
        return None

    def wide(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(WIDER[dtype]) if tensor.dtype == dtype else tensor

    def wide_dtype(given: torch.dtype) -> torch.dtype:
        return WIDER[dtype] if given == dtype else given

    op, sample = _ops()[case.op], _sample(case, is_differentiable(case))
    args, kwargs = tree_map_only(torch.dtype, wide_dtype, (sample.args, sample.kwargs))
    same = _program(op, type(sample)(sample.input, args=args, kwargs=kwargs))
    return Program(same.function, tuple(map(_with_grad_of, map(wide, same.tensors), narrow.tensors)))


def nudged(case: Case, seed: int) -> Program | None:
    """The same sample with each rounded input off by one unit of rounding, up or down at random; None without one."""
    given = program(case)
    if given is None:
        return None
    torch.manual_seed(seed)
    return Program(given.function, tuple(map(_with_grad_of, map(_nudge, given.tensors), given.tensors)), _nudge)


def is_differentiable(case: Case) -> bool:
    """Whether the op has gradients in this element type."""
    op = _ops()[case.op]
    return op.supports_autograd and getattr(torch, case.dtype) in op.supported_backward_dtypes(case.device)


def _nudge(tensor: torch.Tensor) -> torch.Tensor:
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        return tensor
    real = tensor.dtype.to_real() if tensor.dtype.is_complex else tensor.dtype
    signs = torch.randint(0, 2, tensor.shape, device=tensor.device).to(real) * 2 - 1
    return tensor.detach() * (1 + signs * torch.finfo(real).eps)


def _with_grad_of(tensor: torch.Tensor, given: torch.Tensor) -> torch.Tensor:
    return tensor.detach().requires_grad_(given.requires_grad)


def _sample(case: Case, requires_grad: bool) -> Any:
    """PyTorch's sample, None after the last one."""
    torch.manual_seed(0)
    samples = _ops()[case.op].sample_inputs(case.device, getattr(torch, case.dtype), requires_grad=requires_grad)
    return next(itertools.islice(samples, case.number, None), None)


def _program(op: "OpInfo", sample: "SampleInput") -> Program:
    leaves, spec = tree_flatten((sample.input, sample.args, sample.kwargs))
    indices = [index for index, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

    def function(*tensors):
        filled = list(leaves)
        for index, tensor in zip(indices, tensors, strict=True):
            filled[index] = tensor
        first, args, kwargs = tree_unflatten(filled, spec)
        return op.op(first, *args, **kwargs)

    return Program(function, tuple(leaves[index] for index in indices))

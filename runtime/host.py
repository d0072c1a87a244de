"""What the host's functions call beside regions and ATen: copies, counted, and autograd kept out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch

from dovetail.backends.python.tensors import WRITES, in_order, in_rows, laid_out, with_strides, write_numbers
from dovetail.runtime.checks.addresses import are_importable
from dovetail.runtime.launches.iree_executable import Executable, prepare, ready
from dovetail.runtime.stats import count_copy


def below_autograd(function: Callable) -> Callable:
    """What is computed inside is autograd's business nowhere: the border is.

    Not even views are tracked, since what is handed out must not look like a view of something hidden; and autocast,
    which was traced, must not be applied to the library calls again.
    """

    def run(*arguments):
        with torch._C._AutoDispatchBelowADInplaceOrView(), torch._C._DisableAutocast():
            return function(*arguments)

    return run


def _counted(made_of: Callable[..., torch.Tensor], reason: str) -> Callable[..., torch.Tensor]:
    """What `made_of` makes of a tensor; that it is another one counts."""

    def run(tensor: torch.Tensor, *how) -> torch.Tensor:
        made = made_of(tensor, *how)
        if made is not tensor:
            count_copy(reason)
        return made

    return run


def _counted_write(write: Callable) -> Callable:
    def run(ref: torch.Tensor, value: torch.Tensor) -> None:
        if value.numel():
            count_copy("value into a mutated input")
        write(ref, value)

    return run


def _counted_numbers(refs: tuple[torch.Tensor, ...], values: tuple[torch.Tensor, ...]) -> None:
    for value in values:
        if value.numel():
            count_copy("value into a mutated input")
    write_numbers(refs, values)


def _all_ready(device: str) -> Callable:
    are_ready = are_importable(device)
    return lambda *tensors: tensors if are_ready(tensors) else tuple(map(ready, tensors))


def _laid_out(operand: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    made = laid_out(operand, strides)
    if made is not operand and made.data_ptr() != operand.data_ptr():
        count_copy("operand in another memory layout than eager's")
    return made


def taking_any(run: Callable, destinations: Sequence[bool]) -> Callable:
    """`run`, which launches a region, with copies of inputs that lie otherwise than it expects; plans make their own.

    `destinations` says of each argument whether it is one.
    """
    if not isinstance(run, Executable):
        return run

    def launch(*tensors):
        run(*(tensor if kept else ready(tensor) for tensor, kept in zip(tensors, destinations, strict=True)))

    return launch


def unboxed(function: Callable) -> Callable:
    """A region as its callers write it: the arguments themselves, and one result alone."""

    def run(*arguments):
        results = function(list(arguments))
        return results[0] if len(results) == 1 else results

    return run


# What the host's functions call beside regions and ATen, counted; regions that run op by op get no `ready` arguments.
HELPERS: Mapping[str, Callable] = {
    "with_strides": _counted(with_strides, "result in another memory layout than eager's"),
    "destination": _counted(prepare, "mutated input that is not aligned"),
    "copied": _counted(
        partial(torch.clone, memory_format=torch.contiguous_format), "mutated input of a region that was not compiled"
    ),
    "copy": _counted(torch.Tensor.clone, "value in memory of its own"),
    "laid_out": _laid_out,
    "in_order": _counted(in_order, "gradient in another memory layout than eager's"),
    "in_rows": _counted(in_rows, "operand of a kernel that needs its last dimension contiguous"),
    "write_numbers": _counted_numbers,
    **{f"write_{mode}": _counted_write(write) for mode, write in WRITES.items()},
}
HOST_HELPERS: Mapping[str, Callable] = {"ready": _all_ready, "are_importable": are_importable, **HELPERS}

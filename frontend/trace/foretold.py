"""A function for PyTorch's capture that says what it returns before it is traced.

PyTorch runs a function twice, a third of what a capture costs: to see what it writes and returns, and to trace it. The
eager run has shown that already, and the function's results are copies. So the first run gets tensors that look like
the results; the second one is compared with them, before anything comes of it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch._subclasses.functional_tensor import FunctionalTensor

from dovetail.frontend.devices import TYPES
from dovetail.frontend.observe.run_facts import LeavingTensor
from dovetail.frontend.observe.transforms import closing_transforms
from dovetail.frontend.trace.alias_free import AliasFree
from dovetail.frontend.trace.copies_at_views import independent


class ToldWrong(Exception):
    """The traced run writes or returns something else than was told."""


class Foretold(torch.nn.Module):
    """Calls `function`, but for the first time. Holds for sizes that are known.

    Raises:
        ToldWrong: in a later call, if an argument was written, or a result is unlike what the first call returned.
    """

    def __init__(self, function: AliasFree):
        super().__init__()
        self.function = function
        self.told: list[tuple] | None = None

    def forward(self, *primals):
        if self.told is None:
            with torch.set_grad_enabled(self.function.ambient):
                results = [_look_alike(leaving, self.function) for leaving in self.function.seen.leaving]
            self.told = _described(results)
            return results
        before, ambient = _described(primals), torch.is_grad_enabled()
        results = self.function(*primals)
        is_written = any(map(_is_written, primals)) or _described(primals) != before
        if is_written or torch.is_grad_enabled() != ambient or _described(results) != self.told:
            raise ToldWrong
        return results


@contextmanager
def restoring_modes() -> Iterator[None]:
    """Undoes what a graph switches that is not run to its end, or not for good: transforms, autograd and autocast."""
    grad_mode = torch.is_grad_enabled()
    autocast = [(type_, torch.is_autocast_enabled(type_), torch.get_autocast_dtype(type_)) for type_ in TYPES]
    try:
        with closing_transforms():
            yield
    finally:
        torch._C._set_grad_enabled(grad_mode)
        for device, is_enabled, dtype in autocast:
            torch.set_autocast_enabled(device, is_enabled)
            torch.set_autocast_dtype(device, dtype)


def _look_alike(leaving: LeavingTensor, function: AliasFree) -> torch.Tensor:
    """A copy like that which `function` returns of a tensor that leaves the call."""
    like = leaving.tensor
    requires_grad = function.seen.requires_grad(leaving)
    made = torch.empty_strided(like.size(), like.stride(), dtype=like.dtype, device=like.device)
    return independent(made.requires_grad_(requires_grad), requires_grad)


def _described(values: Sequence) -> list[tuple]:
    """All that PyTorch could tell of `values`, which are copies of their own."""
    return [
        (type(each), each.size(), each.stride(), each.storage_offset(), each.dtype, each.device, each.requires_grad)
        if isinstance(each, torch.Tensor)
        else (type(each), each)
        for each in values
    ]


def _is_written(primal) -> bool:
    if not isinstance(primal, FunctionalTensor):
        return isinstance(primal, torch.Tensor)  # not known
    has_data_mutation = torch._functionalize_has_data_mutation  # type: ignore[attr-defined]  # the stubs lack it
    return has_data_mutation(primal.elem) or torch._functionalize_was_storage_changed(primal.elem)

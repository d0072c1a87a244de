"""A differentiable call, as its node needs to know it: the border between a program and PyTorch's autograd."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch

from dovetail.backends.python.tensors import with_strides
from dovetail.dialects.torch_facts.sizes import OpenSize, row_major, static
from dovetail.runtime.autograd.layouts import Laid, Layouts
from dovetail.runtime.autograd.random_states import CPU
from dovetail.runtime.autograd.version_checks import VersionCheck
from dovetail.runtime.stats import count_copy


@dataclass(frozen=True)
class Tangent:
    """What the backward expects for one owned result: sizes and strides in elements, as traced, and its device.

    Where it `is_followed`, operands lie as it does, and it comes as autograd gives it. Open sizes, None, are the
    result's; open strides, too, if it `lies_as_result`, else the tangent lies row by row.
    """

    result: int
    shape: tuple[OpenSize, ...]
    strides: tuple[OpenSize, ...]
    dtype: torch.dtype
    is_followed: bool = False
    device: str = "cpu"
    lies_as_result: bool = True

    def layout(self, result: torch.Tensor) -> Laid:
        """The sizes and strides of a call that gave `result`."""
        shape = tuple(result.size())
        if None not in self.strides:
            return shape, static(self.strides)
        return shape, result.stride() if self.lies_as_result else row_major(shape)

    def prepare(self, gradient: torch.Tensor | None, layout: Laid) -> torch.Tensor:
        """`gradient` in the layout that the backward was compiled for; zeros where autograd has none."""
        shape, strides = layout
        if gradient is None:
            made = torch.empty_strided(shape, strides, dtype=self.dtype, device=self.device)
            return made.zero_()
        if self.is_followed:
            return gradient
        laid_out = with_strides(gradient, strides)
        if laid_out is not gradient:
            count_copy("gradient in another memory layout than traced")
        return laid_out


@dataclass(frozen=True)
class SavedResult:
    """A value that the forward saves, as its result number `position`.

    Attributes:
        is_checked: the user can reach its memory, so its version is.
        type: its sizes, None for open ones, and dtype; None of a number.
        used: the owned results for whose gradients the program uses it.
        device: where it lies.
    """

    position: int
    is_checked: bool
    type: tuple[tuple[OpenSize, ...], torch.dtype] | None
    used: frozenset[int]
    device: str


@dataclass(frozen=True)
class Border:
    """What the IR says of a differentiable call, read once.

    Attributes:
        owned: how many results the user gets; `non_differentiable` are those of them without gradients.
        names: the user's name of each argument.
        saved: the saved values, in the backward's order.
        checked_results: the owned results that a checked value shares memory with but is not.
        eager_only: of what eager alone would have saved, or reads again; `rereads`, of all that it reads again.
        tangents: what the backward takes a gradient of each owned result as.
        once: why the gradient can't be differentiated, None where nothing is known against it.
        written_last: where an argument is written after eager's autograd has saved the last value, None where none is.
        donated: the saved values that the backward overwrites.
        reached: arguments with the owned results whose gradients flow to them, where that are not all.
        frees: for owned results with gradients, the groups of what eager saved that their backward frees.
        bases: the sizes of what owned results show themselves as views of.
        checks: where several results have gradients: for each checked saved value, then for the `checked_results`, for
            which of them it must be unchanged; None where the memory is not known.
        layouts: how operands in the backward lie that lie as tangents do, None where none do.
        symbols: the arguments that the backward takes for symbols, by the symbol.
    """

    owned: int
    non_differentiable: tuple[int, ...]
    names: tuple[str, ...]
    saved: tuple[SavedResult, ...]
    checked_results: tuple[int, ...]
    eager_only: tuple[VersionCheck, ...]
    rereads: tuple[VersionCheck, ...]
    tangents: tuple[Tangent, ...]
    once: str | None
    written_last: str | None
    donated: tuple[int, ...]
    reached: tuple[tuple[int, tuple[int, ...]], ...]
    frees: tuple[tuple[int, frozenset[int]], ...]
    bases: tuple[tuple[int, tuple[int, ...]], ...]
    checks: tuple[VersionCheck, ...] | None
    layouts: Layouts | None
    symbols: Mapping[int, int]

    @cached_property
    def layouts_of_tangents(self) -> tuple[Laid, ...] | None:
        """How tangents lie in every call, None where that hangs on the call."""
        found = [(tangent.shape, tangent.strides) for tangent in self.tangents]
        return None if any(None in (*shape, *strides) for shape, strides in found) else tuple(found)  # type: ignore[arg-type]  # none is None

    @cached_property
    def unseen_gpu(self) -> str | None:
        """The GPU on which saved values lie, but no result with a gradient, so that autograd knows no stream of it."""
        if any(tangent.device != CPU for tangent in self.tangents):
            return None
        return next((each.device for each in self.saved if each.type is not None and each.device != CPU), None)

    def absent(self, gradients: Sequence) -> frozenset[int]:
        """The numbers of the tangents that autograd has no gradient for."""
        return frozenset(number for number, tangent in enumerate(self.tangents) if gradients[tangent.result] is None)

    def flowing(self, gradients: Sequence, results: Sequence) -> Sequence:
        """The `results` of a backward, without those that none of the given `gradients` flows to, as in eager."""
        idle = [
            index for index, positions in self.reached if all(gradients[position] is None for position in positions)
        ]
        return tuple(None if index in idle else result for index, result in enumerate(results)) if idle else results

    def numbers(self, arguments: Sequence) -> Mapping[int, int]:
        """The symbols that `told_by` takes, by number, of a call with `arguments`."""
        return {symbol: arguments[position] for symbol, position in self.symbols.items()}

    def told_by(self, tangents: Sequence[torch.Tensor], symbols: Mapping[int, int]) -> tuple:
        """What the backward takes after its list of values: how operands lie, if that hangs on the `tangents`."""
        if self.layouts is None:
            return ()
        numbered = zip(self.tangents, tangents, strict=True)
        return (self.layouts({each.result: given for each, given in numbered}, symbols),)

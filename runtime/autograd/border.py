"""What the IR says of a differentiable call: the border between a compiled program and PyTorch's autograd."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.aten import with_strides
from dovetail.dialects.attributes import BASE, FREES, ONCE, REACHED, TANGENT_OF, WRITTEN_LAST
from dovetail.dialects.calls import donated
from dovetail.dialects.dovetail import OwnOp, RefType
from dovetail.dialects.reading import argument_facts, numbers
from dovetail.dialects.saved import SavedValue, checked_results, saved_values
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info
from dovetail.runtime.autograd.version_checks import Watch, read_moves, read_watches
from dovetail.runtime.stats import count_copy


@dataclass(frozen=True)
class Tangent:
    """What the backward expects for one owned result: sizes and strides in elements, as they were traced."""

    result: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: torch.dtype

    def prepare(self, gradient: torch.Tensor | None) -> torch.Tensor:
        """`gradient` in the layout that the backward was compiled for; zeros where autograd has none."""
        if gradient is None:
            return torch.empty_strided(self.shape, self.strides, dtype=self.dtype).zero_()
        laid_out = with_strides(gradient, self.strides)
        if laid_out is not gradient:
            count_copy("gradient in another memory layout than traced")
        return laid_out


@dataclass(frozen=True)
class Border:
    """What the IR says of a differentiable call, read once.

    `saved` tells for each saved value whether its version is "checked" (the user can reach its memory) or not, and
    `places` which of the forward's results it is; `watched` are the owned results that a checked value shares memory
    with but is not. `watches` is what eager would have saved besides. `once` is why the gradient can't be
    differentiated, None where nothing is known against it. `written_last` is where an argument is written after eager's
    autograd has saved the last value, None where none is. `donated` are the saved values that the backward overwrites.
    `reached` are arguments with the owned results whose gradients flow to them, where that are not all; `frees` has for
    those with gradients the groups of what eager saved that their backward frees. `bases` are the sizes of what owned
    results show themselves as views of. Where several results have gradients, `checks` tells for each checked saved
    value, then for the `watched` results, for which of them it must be unchanged; None where the memory is not known.
    `used` are the results for whose gradients the program uses each saved value, `saved_types` what it looks like.
    """

    owned: int
    non_differentiable: tuple[int, ...]
    saved: tuple[str, ...]
    places: tuple[int, ...]
    watched: tuple[int, ...]
    watches: tuple[Watch, ...]
    tangents: tuple[Tangent, ...]
    once: str | None
    written_last: str | None
    donated: tuple[int, ...]
    reached: tuple[tuple[int, tuple[int, ...]], ...]
    frees: tuple[tuple[int, frozenset[int]], ...]
    bases: tuple[tuple[int, tuple[int, ...]], ...]
    checks: tuple[Watch, ...] | None
    saved_types: tuple[TensorInfo, ...]
    used: tuple[frozenset[int], ...]


def read_border(border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp) -> Border:
    """Reads a border's facts from its three functions."""
    owned, saved, watched = len(border.type.results), saved_values(forward, backward), checked_results(forward)
    owners = [None if isinstance(each.owner, ir.Block) else each.owner.operation.opview for each in _returned(forward)]
    owns = {index: op for index, op in enumerate(owners[:owned]) if isinstance(op, OwnOp)}
    inputs, facts = list(backward.type.inputs), argument_facts(backward)[len(saved) :]
    tangents = tuple(
        _tangent(RefType(type_), ir.IntegerAttr(each[TANGENT_OF]).value)
        for type_, each in zip(inputs[len(saved) :], facts, strict=True)
    )
    stated, moves = read_watches(border, owns), read_moves(border)
    checks = [_check(each, moves) for each in saved if each.is_checked]
    checks += [Watch(False, index, tuple(results), {}) for index, results in watched.items()]
    known = tuple(each for each in checks if each is not None)
    covered = {(each.is_argument, each.place) for each in known}
    return Border(
        owned=owned,
        non_differentiable=tuple(index for index, op in owns.items() if not op.is_differentiable),
        saved=tuple(each.saved for each in saved),
        places=tuple(owned + index if each.result is None else each.result for index, each in enumerate(saved)),
        watched=tuple(watched),
        watches=tuple(each for each in stated if (each.is_argument, each.place) not in covered),
        tangents=tangents,
        once=_words(border, ONCE),
        written_last=_words(border, WRITTEN_LAST),
        donated=donated(backward),
        reached=tuple(
            (index, flowing)
            for index, each in enumerate(argument_facts(border))
            if (flowing := numbers(each, REACHED)) is not None
        ),
        frees=tuple((each.result, _freed(owns[each.result])) for each in tangents),
        bases=tuple(
            (index, sizes) for index, op in owns.items() if (sizes := numbers(op.attributes, BASE)) is not None
        ),
        checks=known if len(tangents) > 1 and len(known) == len(checks) else None,
        saved_types=tuple(require_tensor_info(each) for each in inputs[: len(saved)]),
        used=tuple(frozenset(each.result for each in tangents) if one.uses is None else one.uses for one in saved),
    )


def _returned(forward: func.FuncOp) -> list[ir.Value]:
    return list(list(forward.body.blocks[0].operations)[-1].operation.operands)


def _check(value: SavedValue, moves: Mapping[int, int]) -> Watch | None:
    """What must be unchanged for a checked saved value; None where that is not said."""
    result = value.in_result if value.result is None else value.result
    if value.checked_for is None:
        return None
    if value.in_argument is not None:
        return Watch(True, value.in_argument, tuple(value.checked_for), moves)
    return None if result is None else Watch(False, result, tuple(value.checked_for), {})


def _words(border: func.FuncOp, name: str) -> str | None:
    return ir.StringAttr(border.attributes[name]).value if name in border.attributes else None


def _freed(op: OwnOp) -> frozenset[int]:
    stated = numbers(op.attributes, FREES)
    return frozenset((0,) if stated is None else stated)


def _tangent(type_: RefType, result: int) -> Tangent:
    return Tangent(result, type_.info.shape, type_.strides, getattr(torch, type_.info.dtype))

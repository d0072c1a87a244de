"""What the IR says of a differentiable call: the border between a compiled program and PyTorch's autograd."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.aten import with_strides
from dovetail.backends.python.operators import overload
from dovetail.dialects.attributes import BASE, FREES, ONCE, REACHED, SAVED, TANGENT_OF, WRITTEN_LAST
from dovetail.dialects.calls import argument_facts, donated, numbers
from dovetail.dialects.dovetail import OwnOp, ReadOp, RefType
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info
from dovetail.runtime.autograd.saved_uses import saved_uses
from dovetail.runtime.autograd.version_checks import Watch, read_watches
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


def read_border(
    border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp, functions: Mapping[str, func.FuncOp]
) -> Border:
    """Reads a border's facts from its three functions; `functions` are those that they call."""
    owned = len(border.type.results)
    returned = list(list(forward.body.blocks[0].operations)[-1].operation.operands)
    owners = [None if isinstance(each.owner, ir.Block) else each.owner.operation.opview for each in returned[:owned]]
    owns = {index: op for index, op in enumerate(owners) if isinstance(op, OwnOp)}
    saved = tuple(
        ir.StringAttr(ir.DictAttr(attributes)[SAVED]).value
        for attributes in list(forward.attributes["res_attrs"])[owned:]
    )
    checked = {memory(value): value for value, check in zip(returned[owned:], saved, strict=True) if check == "checked"}
    # A saved value that is also a result is saved as the result, which has a history; differentiable ones win.
    handed_out = {op.value: index for index, op in owns.items()}
    handed_out |= {op.value: index for index, op in owns.items() if op.is_differentiable}
    shared = tuple(index for index, op in owns.items() if checked.get(memory(op.value), op.value) != op.value)
    places = tuple(handed_out.get(value, owned + number) for number, value in enumerate(returned[owned:]))
    is_checked = {place for place, check in zip(places, saved, strict=True) if check == "checked"} | {*shared}
    read = {op.opview.ref for op in _makers(checked) if isinstance(op.opview, ReadOp)}
    arguments = zip(backward.type.inputs, backward.attributes["arg_attrs"], strict=True)
    tangents = tuple(
        _tangent(RefType(type_), ir.IntegerAttr(ir.DictAttr(attributes)[TANGENT_OF]).value)
        for type_, attributes in list(arguments)[len(saved) :]
    )
    used = [
        frozenset(tangents[number].result for number in each) for each in saved_uses(backward, len(saved), functions)
    ]
    roots = [memory(value) for value in returned[owned:]]
    needed = [(root, results) for root, results, check in zip(roots, used, saved, strict=True) if check == "checked"]
    for index in shared:
        same = (results for root, results in needed if root == memory(owns[index].value))
        needed.append((memory(owns[index].value), frozenset().union(*same)))
    stated = read_watches(border, owns)
    is_partial = len(tangents) > 1
    return Border(
        owned=owned,
        non_differentiable=tuple(index for index, op in owns.items() if not op.is_differentiable),
        saved=saved,
        places=places,
        watched=shared,
        watches=tuple(
            each
            for each in stated
            if (forward.arguments[each.place] not in read if each.is_argument else each.place not in is_checked)
        ),
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
        checks=_checks(stated, list(forward.arguments), owns, needed) if is_partial else None,
        saved_types=tuple(require_tensor_info(each) for each in backward.type.inputs[: len(saved)]),
        used=tuple(used),
    )


def _words(border: func.FuncOp, name: str) -> str | None:
    return ir.StringAttr(border.attributes[name]).value if name in border.attributes else None


def _freed(op: OwnOp) -> frozenset[int]:
    stated = numbers(op.attributes, FREES)
    return frozenset((0,) if stated is None else stated)


def _checks(
    stated: Sequence[Watch],
    arguments: list[ir.Value],
    owns: Mapping[int, OwnOp],
    needed: Sequence[tuple[ir.Value, frozenset[int]]],
) -> tuple[Watch, ...] | None:
    """What must be unchanged for which results: those that eager needs it for, as `stated`, and those that we do.

    `needed` has values whose memory is an argument's or an owned result's, each with the results that we need it for.
    """
    memories = {memory(op.value): index for index, op in owns.items()}
    found = []
    for root, results in needed:
        op = None if isinstance(root.owner, ir.Block) else root.owner.operation.opview
        ref = op.ref if isinstance(op, ReadOp) else None
        is_argument = ref is not None and ref in arguments
        place = arguments.index(ref) if is_argument else memories.get(root)
        if place is None:
            return None
        eager = next((each for each in stated if (each.is_argument, each.place) == (is_argument, place)), None)
        told = Watch(is_argument, place, (), {}) if eager is None else eager
        found.append(replace(told, results=tuple({*told.results, *results})))
    return tuple(found)


def _makers(values: Iterable[ir.Value]) -> list[ir.Operation]:
    return [each.owner.operation for each in values if not isinstance(each.owner, ir.Block)]


def memory(value: ir.Value) -> ir.Value:
    """The value whose memory a host function's `value` lies in: views, and what ATen may return as one, share it."""
    while not isinstance(value.owner, ir.Block):
        op = value.owner.operation
        name = aten_name(op)
        is_alias = name is not None and any(each.alias_info is not None for each in overload(name)._schema.returns)
        if not op.operands or not (is_alias or kind(op) is Kind.VIEW):
            return value
        value = op.operands[0]
    return value


def _tangent(type_: RefType, result: int) -> Tangent:
    return Tangent(result, type_.info.shape, type_.strides, getattr(torch, type_.info.dtype))

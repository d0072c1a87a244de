"""Reads from the IR what a border's node needs: nothing is found out here that is not stated there."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects import attributes
from dovetail.dialects.dovetail import OwnOp, RefType
from dovetail.dialects.memory.argument_names import argument_name
from dovetail.dialects.reading import Module, argument_facts, arguments, made_by, numbers, returned, symbol
from dovetail.dialects.statements.calls import donated
from dovetail.dialects.statements.devices import Devices, ref_device
from dovetail.dialects.statements.saved import SavedValue, checked_results, saved_values
from dovetail.dialects.statements.stated import stated_by
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.errors import ModuleError
from dovetail.runtime.autograd.border import Border, SavedResult, Tangent
from dovetail.runtime.autograd.layouts import Layouts, Number
from dovetail.runtime.autograd.version_checks import VersionCheck

T = TypeVar("T")


def read_border(
    border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp, module: Module, layouts: Layouts | None = None
) -> Border:
    """Reads a border's facts from its three functions; `layouts` are those of their module."""
    owned, saved, checked = len(border.type.results), saved_values(forward, backward), checked_results(forward)
    owns = made_results(forward, owned)
    tangents = tuple(
        _tangent(backward, number, border.type.results) for number in range(len(saved), len(backward.type.inputs))
    )
    watched, rereads = (stated_checks(border, owns, name) for name in (attributes.WATCHED, attributes.REREAD))
    checks, devices = _checks(saved, checked, rereads), Devices(module.operation)
    return Border(
        owned=owned,
        non_differentiable=tuple(index for index, op in owns.items() if not op.is_differentiable),
        names=_names(border, module),
        saved=tuple(_saved(backward, number, each, owned, tangents, devices) for number, each in enumerate(saved)),
        checked_results=tuple(checked),
        eager_only=_eager_only(watched, rereads, checks),
        rereads=tuple(rereads),
        tangents=tangents,
        once=_words(border, attributes.ONCE),
        written_last=_words(border, attributes.WRITTEN_LAST),
        donated=donated(backward),
        reached=tuple(_of_arguments(border, attributes.REACHED, _numbers).items()),
        frees=tuple((each.result, _freed(owns[each.result])) for each in tangents),
        bases=tuple(
            (index, sizes)
            for index, op in owns.items()
            if (sizes := numbers(op.attributes, attributes.BASE)) is not None
        ),
        checks=_complete(checks) if len(tangents) > 1 else None,
        layouts=layouts,
        symbols={} if layouts is None else _symbols(forward, layouts),
    )


def made_results(forward: func.FuncOp, owned: int) -> dict[int, OwnOp]:
    """What gives each of the `owned` results its memory, by number."""
    made = enumerate(made_by(value, OwnOp.OPERATION_NAME) for value in returned(forward)[:owned])
    return {index: op.opview for index, op in made if op is not None}


def _names(border: func.FuncOp, module: Module) -> tuple[str, ...]:
    """The user's names, which the one call of `border` tells."""
    call, *others = module.calls().get(symbol(border), [None])
    if call is None or others:
        got = len(others) + (call is not None)
        raise ModuleError(f"{border.location}: expected one call of '@{symbol(border)}', got {got}")
    return tuple(argument_name(value) or str(number) for number, value in enumerate(call.operands))


def _saved(
    backward: func.FuncOp,
    number: int,
    stated: SavedValue,
    owned: int,
    tangents: Sequence[Tangent],
    devices: Devices,
) -> SavedResult:
    info = shaped_info(backward.type.inputs[number])
    return SavedResult(
        owned + number if stated.result is None else stated.result,
        stated.is_checked,
        None if info is None else (info.shape, getattr(torch, info.dtype)),
        frozenset(each.result for each in tangents) if stated.uses is None else stated.uses,
        devices.of(arguments(backward)[number]),
    )


def _checks(
    saved: Sequence[SavedValue], checked: Mapping[int, frozenset[int]], rereads: Sequence[VersionCheck]
) -> list[VersionCheck | None]:
    """Of each checked saved value, then of the `checked` results; None where it is not said what must be unchanged."""
    reread = {each.whose for each in rereads}
    of_saved = [_check(value, reread) for value in saved if value.is_checked]
    of_results = [VersionCheck(False, index, tuple(for_), (False, index) in reread) for index, for_ in checked.items()]
    return [*of_saved, *of_results]


def _complete(checks: Sequence[VersionCheck | None]) -> tuple[VersionCheck, ...] | None:
    """All `checks`, or None where one is not known."""
    known = tuple(check for check in checks if check is not None)
    return known if len(known) == len(checks) else None


def _eager_only(
    watched: Sequence[VersionCheck], rereads: Sequence[VersionCheck], checks: Sequence[VersionCheck | None]
) -> tuple[VersionCheck, ...]:
    """Of what eager would have saved, then of what it only reads again, without what `checks` are of."""
    only_reread = (each for each in rereads if replace(each, is_reread=False) not in watched)
    kept = {check.whose for check in checks if check is not None}
    return tuple(each for each in (*watched, *only_reread) if each.whose not in kept)


def _of_arguments(border: func.FuncOp, name: str, read: Callable[[ir.Attribute], T]) -> dict[int, T]:
    """What `name` says of the border's arguments, by number."""
    return {number: read(facts[name]) for number, facts in enumerate(argument_facts(border)) if name in facts}


def _numbers(stated: ir.Attribute) -> tuple[int, ...]:
    return tuple(ir.DenseI64ArrayAttr(stated))


def _check(value: SavedValue, reread: Collection[tuple[bool, int]]) -> VersionCheck | None:
    """What must be unchanged for a checked saved value, perhaps in memory that is `reread`; None if it is not said."""
    result = value.in_result if value.result is None else value.result
    position = result if value.in_argument is None else value.in_argument
    if value.checked_for is None or position is None:
        return None
    is_argument = value.in_argument is not None
    return VersionCheck(is_argument, position, tuple(value.checked_for), (is_argument, position) in reread)


def _symbols(forward: func.FuncOp, layouts: Layouts) -> dict[int, int]:
    """The arguments that `layouts` takes for symbols, by the symbol: those of `@forward` are the call's."""
    positions = {
        facts[attributes.SYMBOL].value: position
        for position, facts in enumerate(argument_facts(forward))
        if attributes.SYMBOL in facts
    }
    return {number.symbol: positions[number.symbol] for number in layouts.arguments if isinstance(number, Number)}


def _words(border: func.FuncOp, name: str) -> str | None:
    return ir.StringAttr(border.attributes[name]).value if name in border.attributes else None


def _freed(op: OwnOp) -> frozenset[int]:
    stated = numbers(op.attributes, attributes.FREES)
    return frozenset((0,) if stated is None else stated)


def _tangent(backward: func.FuncOp, index: int, results: Sequence[ir.Type]) -> Tangent:
    position, type_ = f"{backward.location}: argument {index} of '@{symbol(backward)}'", backward.type.inputs[index]
    if not isinstance(type_, RefType):
        raise ModuleError(f"{position} is no saved value, so it must be a tangent, a !dovetail.ref, got {type_}")
    facts = argument_facts(backward)[index]
    result, dtype = (
        stated_by(position, facts, attributes.TANGENT_OF, ir.IntegerAttr),
        getattr(torch, type_.shaped.dtype),
    )
    device, is_same = ref_device(type_, backward.operation.parent), type_ == results[result]
    return Tangent(result, type_.shaped.shape, type_.strides, dtype, attributes.FOLLOWED in facts, device, is_same)


def stated_checks(border: func.FuncOp, owns: Mapping[int, OwnOp], name: str) -> list[VersionCheck]:
    """What the IR says by the attribute `name` on the border's arguments and on the owned results, by number."""
    facts = [(True, index, each) for index, each in enumerate(argument_facts(border))]
    facts += [(False, index, op.attributes) for index, op in owns.items()]
    found = (
        VersionCheck(is_argument, index, numbers(each, name) or (), name == attributes.REREAD)
        for is_argument, index, each in facts
    )
    return [check for check in found if check.results]

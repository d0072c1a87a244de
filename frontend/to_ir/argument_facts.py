"""What the IR states of arguments: their kind, what eager's backward would do, and how the guard compares them."""

from torch_mlir import ir

from dovetail.dialects.attributes import (
    APART,
    GROUP,
    NAME,
    OBJECT,
    OFFSET,
    REACHED,
    REQUIRES_GRAD,
    ROOT,
    START,
    STATIC,
    TRACKED,
    WATCHED,
)
from dovetail.dialects.dovetail.build import i64
from dovetail.frontend.records import Capture, Input, Owned


def stated(argument: Input) -> dict[str, ir.Attribute]:
    """An argument's name, and what kind of argument it is."""
    attributes: dict[str, ir.Attribute] = {NAME: ir.StringAttr.get(argument.name)}
    if argument.requires_grad:
        attributes[REQUIRES_GRAD] = ir.UnitAttr.get()
    if argument.static:
        attributes[STATIC] = ir.UnitAttr.get()
    return attributes


def watched(each: Input | Owned, numbers: dict[int, int]) -> dict[str, ir.Attribute]:
    """The owned results, by place in `numbers`, for which eager needs its memory unchanged."""
    found = sorted(numbers[place] for place in each.watched if place in numbers)
    return {WATCHED: ir.DenseI64ArrayAttr.get(found)} if found else {}


def reached(argument: Input, differentiated: list[int], numbers: dict[int, int]) -> dict[str, ir.Attribute]:
    """The owned results whose gradients flow to an argument; nothing if all `differentiated` ones do."""
    if argument.gradient is None or argument.reached is None or set(differentiated) <= set(argument.reached):
        return {}
    found = sorted(numbers[place] for place in differentiated if place in argument.reached)
    return {REACHED: ir.DenseI64ArrayAttr.get(found)}


def guarded(argument: Input, capture: Capture) -> ir.DictAttr:
    """What `@guard` states of one argument."""
    attributes: dict[str, ir.Attribute] = {NAME: ir.StringAttr.get(argument.name)}
    place = capture.inputs.index(argument)
    for number, group in enumerate(capture.groups):
        if place in group.members:
            attributes[GROUP] = i64(number)
            member = group.members.index(place)
            facts = {START: group.starts, ROOT: group.roots, OBJECT: group.objects}
            attributes |= {name: i64(numbers[member]) for name, numbers in facts.items()}
    if argument.mutation is not None and argument.mutation.mode == "tracked":
        attributes[TRACKED] = ir.UnitAttr.get()
    if _counts_versions(argument, capture):
        near = (number for number, members in enumerate(capture.neighbours) if place in members)
        attributes[APART] = i64(next(near, len(capture.neighbours) + place))
    if capture.fixes_offsets:
        attributes[OFFSET] = i64(int(argument.node.meta["val"].storage_offset()))
    return ir.DictAttr.get(attributes)


def _counts_versions(argument: Input, capture: Capture) -> bool:
    """Whether it may share a version counter only with those of now: autograd saved some, and some are written."""
    is_concerned = bool(argument.watched) or argument.mutation is not None
    is_watched = any(each.watched for each in capture.inputs)
    return is_concerned and is_watched and argument.node.meta["val"].numel() > 0

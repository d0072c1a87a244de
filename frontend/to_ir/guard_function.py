"""The function `@guard`: how the arguments may share memory with one another in a call."""

from collections.abc import Collection, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import APART, GROUP, MUTATED, NAME, OBJECT, OFFSET, ROOT, START, TRACKED
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import Role
from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.records import Capture, CapturedArgument
from dovetail.frontend.to_ir.building import new_function, state_arguments


def call_guard(joint: func.FuncOp, capture: Capture, arguments: Sequence[ir.Value]) -> None:
    """Makes `@guard` beside `joint` and calls it, if another call might share memory in a way that counts."""
    tensors = [pair for pair in zip(capture.inputs, arguments, strict=True) if pair[0].is_tensor]
    mutated = [tensor for tensor in tensors if tensor[0].mutation is not None]
    checked = mutated + [tensor for tensor in tensors if tensor[0].mutation is None]
    tracked = _tracked(capture)
    if not (capture.fixes_offsets or tracked) and (not mutated or len(checked) < 2):
        return
    refs = [ref for _, ref in checked]
    with ir.InsertionPoint(joint):
        guard = new_function("guard", Role.GUARD, [ref.type for ref in refs])
    guard.attributes[MUTATED] = i64(len(mutated))
    state_arguments(guard, [_facts(argument, capture, tracked) for argument, _ in checked])
    func.CallOp([], "guard", refs)


def fix_offsets(capture: Capture) -> None:
    """Makes numbers of the offsets that `@guard` states: before types are made, since an offset may be a size."""
    if capture.fixes_offsets:
        for argument in capture.inputs:
            if argument.is_tensor:
                int(argument.node.meta["val"].storage_offset())


def _tracked(capture: Capture) -> set[int]:
    """Positions of what is written in autograd's sight, and of the views of the same tensors: they have one history."""
    written = {
        position
        for position, argument in enumerate(capture.inputs)
        if argument.mutation is not None and argument.mutation.is_tracked
    }
    members = [
        (position, (number, root))
        for number, group in enumerate(capture.groups)
        for position, root in zip(group.members, group.roots, strict=True)
    ]
    roots = {root for position, root in members if position in written}
    return written | {position for position, root in members if root in roots}


def _facts(argument: CapturedArgument, capture: Capture, tracked: Collection[int]) -> dict[str, ir.Attribute]:
    """What `@guard` states of one argument."""
    attributes: dict[str, ir.Attribute] = {NAME: ir.StringAttr.get(argument.name)}
    position = capture.inputs.index(argument)
    for number, group in enumerate(capture.groups):
        if position in group.members:
            attributes[GROUP] = i64(number)
            member = group.members.index(position)
            facts = {START: group.starts, ROOT: group.roots, OBJECT: group.objects}
            attributes |= {name: i64(numbers[member]) for name, numbers in facts.items()}
    if position in tracked:
        attributes[TRACKED] = ir.UnitAttr.get()
    if _counts_versions(argument, capture):
        near = (number for number, members in enumerate(capture.neighbours) if position in members)
        attributes[APART] = i64(next(near, len(capture.neighbours) + position))
    if capture.fixes_offsets:
        attributes[OFFSET] = i64(int(argument.node.meta["val"].storage_offset()))
    return attributes


def _counts_versions(argument: CapturedArgument, capture: Capture) -> bool:
    """Whether it may share a version counter only with those of now: autograd needs some, and some are written."""
    is_concerned = any(argument.needed) or argument.mutation is not None
    return is_concerned and any(any(each.needed) for each in capture.inputs) and not is_empty(argument.node.meta["val"])

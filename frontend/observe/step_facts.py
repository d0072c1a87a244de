"""What each step of an eager run adds to the facts of it: a function for each fact, in the order of `NOTES`."""

from collections.abc import Callable, Sequence

import torch
from torch.utils._pytree import tree_leaves

from dovetail.frontend.observe.alias_groups import crossing, may_share_elements, root, storage
from dovetail.frontend.observe.autograd_graph import version
from dovetail.frontend.observe.op_calls import Reshaped, Took, Wrote
from dovetail.frontend.observe.operand_layouts import Caller
from dovetail.frontend.observe.run_facts import EagerRun, FirstSeen
from dovetail.frontend.observe.step import Given, Step
from dovetail.frontend.observe.view_chains import Key, Viewed, chain_of_calls, key, view_step
from dovetail.frontend.observe.wrapped_arguments import plain_tensors
from dovetail.frontend.records import ViewStep

_APPLY = torch.ops.higher_order.autograd_function_apply


def refuse_repeated_writes(step: Step) -> str:
    """A `_foreach` op that writes memory twice, or reads it after that: eager's result is that of a loop in order.

    Parts of one memory that have no element in common are like memory of their own; a tensor that has none is written
    as often as it is listed, by its version.
    """
    if not (step.name.startswith("_foreach") and step.written):
        return ""
    given = (*step.args, *step.kwargs.values())
    first, *others = [each for each in given if isinstance(each, list | tuple | torch.Tensor)]
    places, written = _numbered(first, 0)
    later = [each for each in crossing(written, written) if each[0] < each[1]]
    is_listed_twice = len(set(map(id, written))) < len(written)
    if is_listed_twice or any(may_share_elements(written[one], written[other]) for one, other in later):
        return "writes the same memory more than once"
    for each in others:
        numbers, read = _numbered(each, len(first))
        later = [(one, other) for one, other in crossing(written, read) if places[one] < numbers[other]]
        if any(may_share_elements(written[one], read[other]) for one, other in later):
            return "reads memory that it has written"
    return ""


def _numbered(given: Sequence | torch.Tensor, count: int) -> tuple[list[int], list[torch.Tensor]]:
    """The number of what holds it, and the tensor, of the plain tensors of a list; `count` of one for all."""
    listed = enumerate(given) if not isinstance(given, torch.Tensor) else [(count, given)]
    found = [(number, plain) for number, each in listed for plain in plain_tensors(tree_leaves(each))]
    return [number for number, _ in found], [plain for _, plain in found]


def note_memory(step: Step, run: EagerRun) -> None:
    """Keeps what the node returned, so that identities stay, and in whose memory that lies."""
    run.kept.append(step.returned)
    run.memories_of[step.node.name] = tuple(map(storage, step.returned))
    run.memories |= step.written


def note_operands(step: Step, run: EagerRun) -> None:
    """How the operands of opaque ops lie."""
    for op, strides in step.of(Took):
        run.operands[Caller.of(step.node, op)].append(strides)


def note_constants(step: Step, run: EagerRun) -> None:
    """What a second differentiation of the traced operations would get wrong: a gradient that they don't show."""
    if step.node.target is _APPLY:
        run.once.append(f"{step.line}: a custom autograd.Function has a gradient of its own")
    if step.name.endswith("_like") or step.name.startswith("new_"):
        return  # only sizes and types of what they are given count
    floats = [value for value in step.returned if value.is_floating_point()]
    required = any(operand.tensor.requires_grad for operand in step.given)
    if floats and required and not any(each.requires_grad for each in floats):
        run.once.append(f"{step.line}: autograd does not follow it")


def note_changed_arguments(step: Step, run: EagerRun) -> None:
    """How often arguments were given other sizes, and when one was last written or given such."""
    for event in step.of(Reshaped):
        run.reshaped.update(number for number, argument in enumerate(run.arguments) if argument is event.tensor)
    if not run.argument_memories.isdisjoint(step.changed):
        changes = [event for event in step.events if isinstance(event, Wrote | Reshaped)]
        run.last_write = changes[-1].when, step.line


def note_targets(step: Step, run: EagerRun) -> None:
    """Which arguments were written, by themselves or through views, and whether autograd followed that."""
    for target in step.targets:
        origin, _ = run.path(target)
        is_followed = step.grad_mode and target.requires_grad
        argument = run.numbers.get(id(origin))
        if argument is not None:
            run.written.add(argument)
            is_followed = is_followed and root(target) is root(origin)
            if is_followed:
                run.tracked.add(argument)
        if origin.requires_grad and not is_followed:
            run.once.append(f"{step.line}: autograd does not follow what it writes")


def note_origins(step: Step, run: EagerRun) -> None:
    """Where tensors come from that were not there before, and what they are views of."""
    for index, tensor in enumerate(step.returned):
        if run.is_known(tensor):
            continue
        run.origins[id(tensor)], run.born[id(tensor)] = FirstSeen(step.node.name, index, False), version(tensor)
        if step.node.target is _APPLY:
            run.barriers.add(id(tensor))
        source = next((operand for operand in step.given if storage(operand.tensor) == storage(tensor)), None)
        if source is None and tensor._base is not None:
            source = Given.of(tensor._base)
            if not run.is_known(tensor._base):  # it was made inside of the node
                run.kept.append(tensor._base)
                run.origins[id(tensor._base)] = FirstSeen(step.node.name, index, True)
        if source is not None:
            run.parents[id(tensor)] = source.tensor, _steps(step, source.key, tensor, index)


def _steps(step: Step, source: Key, tensor: torch.Tensor, index: int) -> tuple[ViewStep, ...]:
    mode = None if step.grad_mode == step.ambient else step.grad_mode
    if step.node.target is torch._C._autograd._get_data_attr:  # type: ignore[attr-defined]  # the stubs lack it
        return (view_step("aten.data.default", (), key(tensor), mode),)
    return chain_of_calls(step.of(Viewed), source, tensor, index, mode)


NOTES: tuple[Callable[[Step, EagerRun], None], ...] = (
    note_memory,
    note_operands,
    note_constants,
    note_changed_arguments,
    note_targets,
    note_origins,
)

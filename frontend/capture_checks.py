"""What a capture refuses: arguments, writes, histories, metadata and nodes that the IR can't say."""

from collections.abc import Collection, Sequence

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.utils._pytree import tree_flatten

from dovetail.dialects.torch_facts.types import DTYPE_NAMES
from dovetail.errors import RereadError, UnsupportedError
from dovetail.frontend.devices import TYPES
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import AliasGroup, retains_grad, root, storage
from dovetail.frontend.observe.observations import Observations
from dovetail.frontend.observe.run_facts import EagerRun
from dovetail.frontend.records import Needed


def check_transforms() -> None:
    """Raises UnsupportedError where the caller is inside of a transform, which wraps tensors that have no memory then.

    It is `functionalize`: inside of the others Dynamo compiles nothing.
    """
    if torch._C._functorch.get_dynamic_layer_stack_depth():
        raise UnsupportedError("a call inside of torch.func.functionalize, which wraps tensors, is not supported")


def check_inputs(names: list[str], inputs: list) -> None:
    """Raises UnsupportedError for an argument that is no strided tensor of a known type, and no number."""
    for name, value in zip(names, inputs, strict=True):
        if isinstance(value, torch.Tensor):
            _check_tensor(f"argument {name}", value)
        elif not isinstance(value, int | float | torch.SymInt):
            raise UnsupportedError(f"argument {name}: a {type(value).__name__} is not supported, expected a tensor")


def _check_tensor(what: str, value: torch.Tensor) -> None:
    """Raises for a tensor that the IR can't say: its types know no layout, and few devices."""
    if value.layout != torch.strided:
        raise UnsupportedError(f"{what}: layout {value.layout} is not supported, expected torch.strided")
    if value.device.type not in TYPES:
        raise UnsupportedError(f"{what}: a tensor on {value.device} is not supported, expected {' or '.join(TYPES)}")
    if str(value.dtype).removeprefix("torch.") not in DTYPE_NAMES:
        raise UnsupportedError(f"{what}: element type {value.dtype} is not supported")


def check_tracked(run: EagerRun, names: list[str], inputs: list) -> None:
    """Checks what is written in autograd's sight: its gradient after the write is only a part of that before it.

    And a call without autograd can't give it a history.
    """
    if run.tracked and not torch.is_grad_enabled():
        raise UnsupportedError(
            f"argument {names[min(run.tracked)]} is written under enable_grad in a call under no_grad"
        )
    written = {id(root(run.arguments[index])) for index in run.tracked}
    for index, argument in enumerate(run.arguments):
        shares_history = isinstance(argument, torch.Tensor) and id(root(argument)) in written
        if shares_history and retains_grad(inputs[index]):
            raise UnsupportedError(f"argument {names[index]} is written and retains its gradient")


def check_copies(run: EagerRun) -> None:
    """Checks that the user can't see whether something is copied, where the sizes that tell it are those of data."""
    results = {storage(result) for result in run.results if isinstance(result, torch.Tensor)}
    for copy in run.undecided:
        if copy.may_show(run.memories, run.argument_memories | results):
            raise UnsupportedError(
                f"{copy.line}: a size that only data tells decides whether this is a view or a copy, which the call"
                " shows: expected clone(), or no write to either"
            )


def check_rereads(needed: Sequence[Needed], names: list[str], inputs: list) -> None:
    """Checks which arguments checkpointed regions read again: what has no version can't be saved."""
    for name, value, need in zip(names, inputs, needed, strict=True):
        if need.reread and value.is_inference():
            raise RereadError(f"argument {name}: an inference tensor that a checkpointed region reads again")


def check_metadata(metadata, names: list[str]) -> None:
    """Raises for every fact that the metadata states and the IR can't yet."""
    if metadata.num_graphsafe_rng_states or metadata.is_rng_op_functionalized:
        raise UnsupportedError("functionalized random number generators are not supported yet")
    for name, info in zip(names, metadata.input_info, strict=True):
        if info.mutates_data or info.mutates_metadata:
            raise UnsupportedError(f"argument {name}: is mutated by an op that doesn't say so in its schema")
    written = metadata.indices_of_inputs_that_requires_grad_with_mutations_in_bw
    if written:
        raise UnsupportedError(f"argument {names[written[0]]}: mutation in the backward is not supported yet")


def check_nodes(graph: torch.fx.Graph, is_open: bool) -> None:
    """Raises for a tensor inside of the graph that the IR can't say.

    Where no number `is_open`, Dynamo shall break the graph at one that only data tells.
    """
    for node in graph.nodes:
        number = node.meta.get("val")
        is_number = isinstance(number, torch.SymFloat | torch.SymBool)
        if is_number and not is_open and free_unbacked_symbols(number):
            raise DataDependentOutputException(node.target)
        for value in tree_flatten(node.meta.get("val"))[0]:
            if isinstance(value, torch.Tensor):
                _check_tensor(source_line(node), value)


def check_histories(
    seen: Observations, static: Collection[int], groups: Sequence[AliasGroup], names: Sequence[str]
) -> None:
    """Checks module state that keeps a history from call to call, by the `static` arguments' positions.

    A compiled call is one node: a backward from any of its results runs through what gave all of its arguments their
    values, with gradients or without. What a buffer's next backward runs through again must not be freed by then.

    Refused is another result whose history comes from arguments that a buffer's does not, or frees what that does not.
    """
    reached, frees = seen.backward.reached, seen.backward.frees
    tracked = [index for index in seen.written if (mutation := seen.mutations[index]) and mutation.is_tracked]
    sources = {
        position: {index for index, positions in enumerate(reached) if positions is not None and position in positions}
        for position in range(len(seen.leaving))
    }
    together = {index: set(group.members) for group in groups for index in group.members}
    for index in tracked:
        position = seen.written[index]
        is_kept = sources[position] and not together.get(index, {index}).isdisjoint(static)
        is_apart = any(not sources[position].issuperset(source) for source in sources.values())
        if is_kept and (is_apart or any(not set(frees[position]).issuperset(each) for each in frees)):
            raise UnsupportedError(f"argument {names[index]} keeps a history apart from that of other results")

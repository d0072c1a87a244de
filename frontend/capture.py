"""The adapter to PyTorch's private API: a Dynamo graph goes in, a joint graph with its facts comes out.

This is the only file that touches `torch._functorch` and `torch._dynamo`. The facts are restated in frozen records, so
that nothing after it depends on a PyTorch version. Supported: torch 2.11 to 2.15.
"""

import copy
import functools
from collections.abc import Sequence
from contextlib import ExitStack
from typing import cast

import torch
from torch._functorch._aot_autograd import descriptors as aot
from torch._functorch._aot_autograd.schemas import OutputType
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch._guards import TracingContext, tracing
from torch._inductor import config as inductor_config
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torch.utils._pytree import tree_flatten

from dovetail.dialects.torch_types import DTYPE_NAMES
from dovetail.errors import UnsupportedError
from dovetail.frontend.decompositions import decompositions
from dovetail.frontend.eager_effects import EagerEffects, Mutation, Result, eager_effects, stand_in
from dovetail.frontend.node_importer import source_line
from dovetail.frontend.records import Capture, Input, Output
from dovetail.frontend.share_memory import share_memory
from dovetail.frontend.view_chains import chain_of_records


def capture(gm: torch.fx.GraphModule, example_inputs: Sequence) -> Capture:
    """Traces forward and backward of a Dynamo graph into one functional graph.

    Raises:
        UnsupportedError: before anything ran, naming the argument or result that can't be honoured yet.
    """
    names = _input_names(gm)
    _fix_sizes(gm)
    inputs = [_fixed(value) for value in example_inputs]
    _check_inputs(names, inputs)
    _check_calls(gm, names)
    effects = eager_effects(gm, inputs)
    _check_aliases(names, inputs, effects)
    # Else FX removes unused random ops, and those after them draw other numbers than eager's.
    # Dynamo's own tracing context remembers which sizes it wants symbolic.
    mode = FakeTensorMode()
    stand_ins = tuple(stand_in(mode, value) for value in inputs)
    with inductor_config.patch(fallback_random=True), tracing(TracingContext(mode)), ExitStack() as stack:
        exported = aot_export_joint_with_descriptors(stack, gm, stand_ins, decompositions=decompositions())
        state = exported._aot_state
        metadata = state.fw_metadata
        graph = exported.graph_module.graph
        _check_metadata(metadata, names)
        _check_nodes(graph, inputs)
        return share_memory(_describe(graph, metadata, names, inputs, _static_inputs(gm, metadata), effects), effects)


def lift_attributes(gm: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, list[torch.Tensor]]:
    """Makes the tensors that Dynamo stored in the graph (an optimizer's parameters and moments) its first arguments.

    Returns the graph with those placeholders, and the tensors; Dynamo guards that they stay the same objects.
    """
    graph = copy.deepcopy(gm.graph)
    first = next(iter(graph.nodes))
    placeholders: dict[str, torch.fx.Node] = {}
    for node in graph.find_nodes(op="get_attr"):
        if not isinstance(_attribute(gm, node.target), torch.Tensor):
            continue
        if node.target not in placeholders:
            with graph.inserting_before(first):
                placeholders[node.target] = graph.placeholder(node.name)
            placeholders[node.target].meta = {**node.meta, "dovetail_name": node.target}
        node.replace_all_uses_with(placeholders[node.target])
        graph.erase_node(node)
    return torch.fx.GraphModule(gm, graph), [_attribute(gm, target) for target in placeholders]


def _attribute(module: torch.nn.Module, target: str):
    return functools.reduce(getattr, target.split("."), module)


def _input_names(gm: torch.fx.GraphModule) -> list[str]:
    """The user's own names ("L['self'].weight") for the placeholders, in order."""
    names = []
    for node in gm.graph.find_nodes(op="placeholder"):
        argument = node.meta.get("grapharg")
        if "dovetail_name" in node.meta:
            names.append(node.meta["dovetail_name"])
            continue
        names.append(argument.source.name if argument is not None and argument.source is not None else node.name)
    return [name() if callable(name) else name for name in names]


def _fix_sizes(gm: torch.fx.GraphModule) -> None:
    """Fixes sizes that Dynamo would leave open to those of now; it guards on them and captures anew for others."""
    for node in gm.graph.find_nodes(op="placeholder"):
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor):
            for number in (*value.size(), *value.stride(), value.storage_offset()):
                _fixed(number)
        _fixed(value)


def _fixed(value):
    match value:
        case torch.SymInt():
            return int(value)
        case torch.SymFloat():
            return float(value)
        case torch.SymBool():
            return bool(value)
    return value


def _check_inputs(names: list[str], inputs: list) -> None:
    for name, value in zip(names, inputs, strict=True):
        if isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value):
            raise UnsupportedError(f"argument {name}: tensor subclass {type(value).__name__} is not supported yet")
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            raise UnsupportedError(f"argument {name}: layout {value.layout} is not supported, expected torch.strided")
        if isinstance(value, torch.Tensor) and str(value.dtype).removeprefix("torch.") not in DTYPE_NAMES:
            raise UnsupportedError(f"argument {name}: element type {value.dtype} is not supported")
        if not isinstance(value, torch.Tensor | int | float | bool):
            raise UnsupportedError(f"argument {name}: a {type(value).__name__} is not supported, expected a tensor")


def _check_metadata(metadata, names: list[str]) -> None:
    """Raises for every fact that the metadata states and the IR can't yet."""
    if metadata.tokens or metadata.num_backward_tokens:
        raise UnsupportedError("side-effecting operators ordered by effect tokens are not supported yet")
    if metadata.num_graphsafe_rng_states or metadata.is_rng_op_functionalized:
        raise UnsupportedError("functionalized random number generators are not supported yet")
    if metadata.grad_enabled_mutation is not None:
        raise UnsupportedError("changing grad mode inside of the compiled function is not supported yet")
    for index in metadata.indices_of_inputs_that_requires_grad_with_mutations_in_bw:
        raise UnsupportedError(f"argument {names[index]}: mutation in the backward is not supported yet")
    for name, info in zip(names, metadata.input_info, strict=True):
        if info.mutates_storage_metadata:
            raise UnsupportedError(f"argument {name}: `set_` is not supported yet")
        if info.mutation_inductor_storage_resize:
            raise UnsupportedError(f"argument {name}: resizing its storage is not supported yet")
        if info.mutates_metadata and info.mutates_data:
            raise UnsupportedError(f"argument {name}: changing both its data and its sizes is not supported yet")


def _check_nodes(graph: torch.fx.Graph, inputs: list) -> None:
    """Raises for a tensor inside of the graph that the IR can't say: its types know neither device nor layout."""
    devices = {value.device.type for value in inputs if isinstance(value, torch.Tensor)} or {"cpu"}
    for node in graph.nodes:
        for value in tree_flatten(node.meta.get("val"))[0]:
            if not isinstance(value, torch.Tensor):
                continue
            if value.device.type not in devices:
                expected = ", ".join(sorted(devices))
                raise UnsupportedError(
                    f"{source_line(node)}: a tensor on {value.device} is not supported, expected {expected}"
                )
            if value.layout != torch.strided:
                raise UnsupportedError(
                    f"{source_line(node)}: layout {value.layout} is not supported, expected torch.strided"
                )
            if str(value.dtype).removeprefix("torch.") not in DTYPE_NAMES:
                raise UnsupportedError(f"{source_line(node)}: element type {value.dtype} is not supported")


def _check_aliases(names: list[str], inputs: list, effects: EagerEffects) -> None:
    """Raises where a mutated argument overlaps another: the graph would be traced as if they were independent."""
    sharing: dict[int, list[int]] = {}
    for index, each in enumerate(inputs):
        if isinstance(each, torch.Tensor):
            sharing.setdefault(each.untyped_storage()._cdata, []).append(index)
    for index, mutation in enumerate(effects.mutations):
        if mutation is None or not mutation.is_mutated:
            continue
        for other in sharing[inputs[index].untyped_storage()._cdata]:
            if other != index and _overlap(inputs[index], inputs[other]):
                raise UnsupportedError(
                    f"argument {names[index]} is mutated and overlaps argument {names[other]} in memory: not supported"
                    " yet, pass a clone of one of them"
                )


def _overlap(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether the spans from first to last element meet, in the storage that both lie in."""
    if not left.numel() or not right.numel():
        return False
    (left_start, left_end), (right_start, right_end) = _span(left), _span(right)
    return left_start < right_end and right_start < left_end


def _span(tensor: torch.Tensor) -> tuple[int, int]:
    """First byte and the one after the last, in the tensor's storage."""
    start = int(tensor.storage_offset()) * tensor.itemsize
    steps = sum(int(size - 1) * int(stride) for size, stride in zip(tensor.size(), tensor.stride(), strict=True))
    return start, start + (steps + 1) * tensor.itemsize


_RESIZING = ("set_", "resize_", "resize_as_")


def _check_calls(gm: torch.fx.GraphModule, names: list[str]) -> None:
    """Raises for what tracing itself would drop, or fail on without naming the argument."""
    placeholders = list(gm.graph.find_nodes(op="placeholder"))
    for node in gm.graph.nodes:
        if node.target in (torch._assert_async, torch.ops.aten._assert_async):
            raise UnsupportedError(f"{source_line(node)}: `torch._assert_async` is not supported yet, tracing drops it")
        if node.op == "call_method" and node.target in _RESIZING and node.args[0] in placeholders:
            name = names[placeholders.index(node.args[0])]
            raise UnsupportedError(f"argument {name}: `{node.target}` is not supported yet")


def _static_inputs(gm: torch.fx.GraphModule, metadata) -> set[int]:
    """Parameters and buffers: what Dynamo marks as static, by position."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    marked = {
        index
        for index, node in enumerate(placeholders)
        if "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})
    }
    return marked | set(metadata.static_input_indices)


def _mode(info, mutation: Mutation | None) -> str | None:
    if not info.mutates_data or mutation is None:
        return None
    if not mutation.moves_version:
        return "hidden"
    return "tracked" if mutation.is_tracked else "no_grad"


def _drops_history(result: Result | None) -> bool:
    return result is not None and result.drops_history


_KINDS = {
    OutputType.non_alias: "fresh",
    OutputType.unsafe_view_alias: "fresh",
    OutputType.custom_function_view: "fresh",
    OutputType.is_input: "input",
    OutputType.alias_of_input: "view_of_input",
    OutputType.alias_of_intermediate: "view_of_base",
    OutputType.alias_of_intermediate_save_as_output: "view_of_base",
    OutputType.alias_of_intermediate_base_is_user_output: "view_of_output",
}


def _describe(
    graph: torch.fx.Graph, metadata, names: list[str], values: list, static: set[int], effects: EagerEffects
) -> Capture:
    """Ties every graph input and output to the fact that its descriptor states."""
    plain: dict[int, torch.fx.Node] = {}
    tangents: dict[aot.AOTOutput, torch.fx.Node] = {}
    for node in graph.find_nodes(op="placeholder"):
        match node.meta["desc"]:
            case aot.PlainAOTInput(idx=index):
                plain[index] = node
            case aot.TangentAOTInput(output=of):
                tangents[of] = node
            case other:
                raise UnsupportedError(f"graph input {node.name}: {other} is not supported yet")
    mutated: dict[int, torch.fx.Node] = {}
    resized: dict[int, torch.fx.Node] = {}
    results: dict[int, tuple] = {}
    bases: list[Output] = []
    gradients: dict[int, torch.fx.Node] = {}
    input_tangents: dict[int, torch.fx.Node] = {}
    output = graph.output_node()
    returned = cast(Sequence[torch.fx.Node], output.args[0])
    for descriptor, node in zip(output.meta["desc"], returned, strict=True):
        match descriptor:
            case aot.PlainAOTOutput(idx=index):
                results[index] = (node, tangents.get(descriptor))
            case aot.InputMutationAOTOutput(mutated_input=aot.PlainAOTInput(idx=index)):
                (resized if metadata.input_info[index].mutates_metadata else mutated)[index] = node
                if descriptor in tangents:
                    input_tangents[index] = tangents[descriptor]
            case aot.IntermediateBaseAOTOutput():
                bases.append(Output("fresh", node, tangents.get(descriptor)))
            case aot.GradAOTOutput(grad_of=aot.PlainAOTInput(idx=index)):
                gradients[index] = node
            case None:
                continue
            case other:
                raise UnsupportedError(f"graph output {node}: {other} is not supported yet")
    inputs = tuple(
        Input(
            name=name,
            node=plain[index],
            requires_grad=info.requires_grad,
            static=index in static,
            mode=_mode(info, effects.mutations[index]),
            mutated_value=mutated.get(index),
            metadata_view=resized.get(index),
            gradient=gradients.get(index),
            tangent=input_tangents.get(index),
            number=None if isinstance(values[index], torch.Tensor) else values[index],
        )
        for index, (name, info) in enumerate(zip(names, metadata.input_info, strict=True))
    )
    outputs = tuple(
        Output(
            kind=_KINDS[info.output_type],
            node=results[index][0],
            tangent=results[index][1],
            drops_history=_drops_history(effects.results[index]),
            base=info.base_idx,
            chain=chain_of_records(info.view_meta_sequence),
        )
        for index, info in enumerate(metadata.output_info)
    )
    return Capture(graph, inputs, outputs, tuple(bases), tuple(tangents.values()))

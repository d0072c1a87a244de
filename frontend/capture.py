"""The adapter to PyTorch's private API: a Dynamo graph goes in, a joint graph with its facts comes out.

This is the only file that touches `torch._functorch` and `torch._dynamo`. The facts are restated in the frozen
records below, so that nothing after it depends on a PyTorch version. Supported: torch 2.11 to 2.15.
"""

import copy
import functools
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

import torch
from torch._functorch._aot_autograd import descriptors as aot
from torch._functorch._aot_autograd.schemas import OutputType
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from dovetail.errors import UnsupportedError
from dovetail.frontend.decompositions import decompositions


@dataclass(frozen=True)
class ViewStep:
    """One view function of a replay chain: `callee` such as "aten.slice.Tensor", and its arguments after the tensor."""

    callee: str
    args: tuple
    output_index: int = -1


@dataclass(frozen=True)
class Input:
    """One argument of the captured graph.

    `mode` says how autograd sees the mutation of its data, None where there is none; `mutated_value` is what the call
    leaves in it and `tangent` the placeholder of that value's gradient; `metadata_view` has the sizes and strides it
    ends with; `gradient` is what the backward computes for it.
    """

    name: str
    node: torch.fx.Node
    requires_grad: bool
    static: bool
    mode: str | None
    mutates_metadata: bool
    mutated_value: torch.fx.Node | None
    metadata_view: torch.fx.Node | None
    gradient: torch.fx.Node | None
    tangent: torch.fx.Node | None


@dataclass(frozen=True)
class Output:
    """One result of the user's function, or a base that several results are views of.

    `kind` is "fresh", "input", "view_of_input", "view_of_base" or "view_of_output"; `base` indexes inputs, bases or
    outputs accordingly. `tangent` is the placeholder of its gradient, None where it is not differentiable by itself.
    """

    kind: str
    node: torch.fx.Node
    requires_grad: bool
    tangent: torch.fx.Node | None = None
    base: int | None = None
    chain: tuple[ViewStep, ...] | None = None


@dataclass(frozen=True)
class Capture:
    """The joint (or inference) graph of one Dynamo graph, functionalized, with everything the user may observe.

    `tangents` are the placeholders that the backward starts from.
    """

    graph: torch.fx.Graph
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    bases: tuple[Output, ...]
    tangents: tuple[torch.fx.Node, ...]


def capture(gm: torch.fx.GraphModule, example_inputs: Sequence) -> Capture:
    """Traces forward and backward of a Dynamo graph into one functional graph.

    Raises:
        UnsupportedError: before anything ran, naming the argument or result that can't be honoured yet.
    """
    names = _input_names(gm)
    inputs = [_specialized(value) for value in example_inputs]
    _check_inputs(names, inputs)
    with ExitStack() as stack:
        exported = aot_export_joint_with_descriptors(stack, gm, tuple(inputs), decompositions=decompositions())
        state = exported._aot_state
        metadata = state.fw_metadata
        graph = exported.graph_module.graph
        _check_metadata(metadata, names)
        return _describe(graph, metadata, names, _static_inputs(gm, metadata))


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


def _specialized(value):
    """Fixes a symbolic size to the value it has now; PyTorch guards on it and captures anew for another."""
    return int(value) if isinstance(value, torch.SymInt) else value


def _check_inputs(names: list[str], inputs: list) -> None:
    for name, value in zip(names, inputs, strict=True):
        if isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value):
            raise UnsupportedError(f"argument {name}: tensor subclass {type(value).__name__} is not supported yet")
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            raise UnsupportedError(f"argument {name}: layout {value.layout} is not supported, expected torch.strided")
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


def _static_inputs(gm: torch.fx.GraphModule, metadata) -> set[int]:
    """Parameters and buffers: what Dynamo marks as static, by position."""
    placeholders = gm.graph.find_nodes(op="placeholder")
    marked = {
        index
        for index, node in enumerate(placeholders)
        if "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})
    }
    return marked | set(metadata.static_input_indices)


def _mode(info) -> str | None:
    if not info.mutates_data:
        return None
    if info.mutations_hidden_from_autograd:
        return "hidden"
    return "no_grad" if info.mutations_under_no_grad_or_inference_mode else "tracked"


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


def _describe(graph: torch.fx.Graph, metadata, names: list[str], static: set[int]) -> Capture:
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
                bases.append(Output("fresh", node, descriptor in tangents, tangents.get(descriptor)))
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
            mode=_mode(info),
            mutates_metadata=info.mutates_metadata,
            mutated_value=mutated.get(index),
            metadata_view=resized.get(index),
            gradient=gradients.get(index),
            tangent=input_tangents.get(index),
        )
        for index, (name, info) in enumerate(zip(names, metadata.input_info, strict=True))
    )
    outputs = tuple(
        Output(
            kind=_KINDS[info.output_type],
            node=results[index][0],
            requires_grad=info.requires_grad,
            tangent=results[index][1],
            base=info.base_idx,
            chain=_chain(info.view_meta_sequence),
        )
        for index, info in enumerate(metadata.output_info)
    )
    return Capture(graph, inputs, outputs, tuple(bases), tuple(tangents.values()))


def _chain(sequence) -> tuple[ViewStep, ...] | None:
    """The replay chain of a view, or None where PyTorch knows none."""
    if sequence is None:
        return None
    return tuple(_step(meta) for meta in sequence.sequence)


def _step(meta) -> ViewStep:
    """Restates one view record, e.g. class `slice_Tensor_ViewMeta` with fields (.., .., mode, 0, 1, 3, 1).

    A record of a view with several results (`split`, `unbind`) has the result's index as its second field.
    """
    name = type(meta).__name__.removesuffix("_ViewMeta")
    callee = _overload_of(name)
    if callee is None:
        raise UnsupportedError(f"replaying the view {name} on its base is not supported yet")
    fields = meta.as_tuple()
    mode = next(index for index, field in enumerate(fields) if type(field).__name__ == "InverseReturnMode")
    returns_list = str(callee._schema.returns[0].type) == "List[Tensor]"
    args = tuple(_plain(field) for field in fields[mode + 1 :])
    return ViewStep(
        f"{callee.namespace}.{callee._opname}.{callee._overloadname}", args, fields[1] if returns_list else -1
    )


def _plain(field):
    return [int(size) for size in field] if isinstance(field, list | tuple) else field


def _overload_of(name: str) -> torch._ops.OpOverload | None:
    """Finds `aten.slice.Tensor` for "slice_Tensor": op names have underscores too, so every split is tried."""
    parts = name.removesuffix("_copy").split("_")
    for cut in range(len(parts), 0, -1):
        packet = getattr(torch.ops.aten, "_".join(parts[:cut]), None)
        overload = "_".join(parts[cut:]) or "default"
        if packet is not None and overload in packet.overloads():
            return getattr(packet, overload)
    return None

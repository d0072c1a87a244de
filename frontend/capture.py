"""The adapter to PyTorch's private API: a Dynamo graph goes in, a joint graph with its facts comes out.

This is the only file that touches `torch._functorch` and `torch._dynamo`. The facts are restated in frozen records, so
that nothing after it depends on a PyTorch version. Supported: torch 2.11 to 2.15.
"""

import copy
import functools
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import cast

import torch
from torch._functorch._aot_autograd import descriptors as aot
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch._guards import TracingContext, tracing
from torch._inductor import config as inductor_config
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._pytree import tree_flatten

from dovetail.dialects.torch_types import DTYPE_NAMES
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.frontend.alias_free import AliasFree
from dovetail.frontend.alias_groups import AliasGroup, alias_groups, neighbours, retains_grad, root, share_elements
from dovetail.frontend.assertions import keep_assertions
from dovetail.frontend.backward_facts import check_saved
from dovetail.frontend.decompositions import decompositions
from dovetail.frontend.eager_facts import EagerRun
from dovetail.frontend.eager_run import eager_run
from dovetail.frontend.idle_dropout import replace_idle_dropout
from dovetail.frontend.inline_subgraphs import inline_subgraphs
from dovetail.frontend.joined_histories import check_histories
from dovetail.frontend.node_importer import source_line
from dovetail.frontend.observations import Observations, observe
from dovetail.frontend.records import Capture, Input, Owned
from dovetail.frontend.shared_memory import shared_memory
from dovetail.frontend.stand_ins import independent
from dovetail.frontend.subclasses import Arguments, flatten_arguments
from dovetail.frontend.transforms import closing_transforms


@closing_transforms()
def capture(gm: torch.fx.GraphModule, example_inputs: Sequence) -> Capture:
    """Traces forward and backward of a Dynamo graph into one functional graph.

    Raises:
        UnsupportedError: before anything ran, naming the argument or result that can't be honoured.
    """
    inline_subgraphs(gm)
    keep_assertions(gm)
    replace_idle_dropout(gm)
    with _refusing("its arguments can't be described"):
        _fix_sizes(gm)
        arguments = flatten_arguments(_input_names(gm), [_fixed(value) for value in example_inputs])
    names, inputs = list(arguments.names), list(arguments.values)
    _check_inputs(names, inputs)
    with _refusing("it can't be run on tensors without memory"):
        run, groups = _eager_run(gm, arguments)
    _check_tracked(run, names, inputs)
    with _refusing("autograd can't tell the history of its results", RuntimeError):
        seen = observe(run, names, groups)
    static = arguments.positions(_static_inputs(gm))
    check_histories(seen, static, groups, names)
    shared = [shared_memory(group, inputs, names) for group in groups if _overlaps(group, run, inputs)]
    function = AliasFree(gm, seen, shared, torch.is_grad_enabled(), arguments, run)
    # Else FX removes unused random ops, and those after them draw other numbers than eager's.
    # Dynamo's own tracing context remembers which sizes it wants symbolic.
    mode = FakeTensorMode(shape_env=ShapeEnv())
    primals = tuple(independent(mode, inputs))
    with inductor_config.patch(fallback_random=True), tracing(TracingContext(mode)), ExitStack() as stack:
        with _refusing("PyTorch can't trace it"):
            exported = aot_export_joint_with_descriptors(stack, function, primals, decompositions=decompositions())
        for reason in function.refusals:
            raise UnsupportedError(reason)
        graph = exported.graph_module.graph
        _check_metadata(exported._aot_state.fw_metadata, names)
        _check_nodes(graph, inputs)
        return _describe(gm, graph, names, inputs, static, run, seen, groups)


@contextmanager
def _refusing(what: str, expected: type[Exception] = Exception) -> Iterator[None]:
    """Whatever PyTorch raises while it runs the graph without computing: what eager does, only eager can tell.

    Where a value must be known, Dynamo breaks the graph, and compiles what is before and after it.
    """
    try:
        yield
    except DataDependentOutputException:
        raise
    except DovetailError as error:
        # The interpreter adds the node to what is raised below it; the message names the place itself.
        raise type(error)(str(error).split("\n\nWhile executing")[0]) from error
    except expected as error:
        lines = str(error).strip().splitlines() or [""]
        raise UnsupportedError(f"{what}: {type(error).__name__}: {lines[0]}") from error


def _eager_run(gm: torch.fx.GraphModule, arguments: Arguments) -> tuple[EagerRun, tuple[AliasGroup, ...]]:
    """One run in which arguments share memory where one of their group is written, and those groups.

    What is learned of the others must hold for independent arguments too: no guard tells them apart.

    Raises:
        UnsupportedError: where a write of an argument moves the version counter of another that autograd saved.
    """
    groups = alias_groups(arguments.values)
    members = tuple(group.members for group in groups)
    near = neighbours(arguments.values)
    is_apart = set(near) <= set(members)
    run = eager_run(gm, arguments, members if is_apart else near)
    if not is_apart:
        check_saved(run)
    written = tuple(group for group in groups if run.written.intersection(group.members))
    together = tuple(group.members for group in written)
    is_same = is_apart and together == members
    return (run if is_same else eager_run(gm, arguments, together)), written


def _overlaps(group: AliasGroup, run: EagerRun, inputs: list) -> bool:
    """Whether an argument of the group is written that another has elements of, rather than lies between.

    Empty ones have nothing but their history in common.
    """
    written = [index for index in group.members if index in run.written]
    pairs = [(index, other) for index in written for other in group.members if other != index]
    is_empty = not inputs[group.members[0]].numel()
    return is_empty or any(share_elements(inputs[index], inputs[other]) for index, other in pairs)


def _fixes_offsets(gm: torch.fx.GraphModule) -> bool:
    """Whether the graph addresses memory by its place in the storage, which Dynamo does not guard."""
    named = {getattr(node.target, "__name__", str(node.target)) for node in gm.graph.nodes}
    return any(name.startswith("as_strided") for name in named)


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
        if isinstance(value, torch.Tensor) and value.layout != torch.strided:
            raise UnsupportedError(f"argument {name}: layout {value.layout} is not supported, expected torch.strided")
        if isinstance(value, torch.Tensor) and str(value.dtype).removeprefix("torch.") not in DTYPE_NAMES:
            raise UnsupportedError(f"argument {name}: element type {value.dtype} is not supported")
        if not isinstance(value, torch.Tensor | int | float | bool):
            raise UnsupportedError(f"argument {name}: a {type(value).__name__} is not supported, expected a tensor")


def _check_tracked(run: EagerRun, names: list[str], inputs: list) -> None:
    """Checks what is written in autograd's sight.

    Of such, the gradient after the write is computed only as a part of that before it; and a call without autograd
    can't give it a history.
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


def _check_metadata(metadata, names: list[str]) -> None:
    """Raises for every fact that the metadata states and the IR can't yet."""
    if metadata.num_graphsafe_rng_states or metadata.is_rng_op_functionalized:
        raise UnsupportedError("functionalized random number generators are not supported yet")
    for name, info in zip(names, metadata.input_info, strict=True):
        if info.mutates_data or info.mutates_metadata:
            raise UnsupportedError(f"argument {name}: is mutated by an op that doesn't say so in its schema")
    for index in metadata.indices_of_inputs_that_requires_grad_with_mutations_in_bw:
        raise UnsupportedError(f"argument {names[index]}: mutation in the backward is not supported yet")


def _check_nodes(graph: torch.fx.Graph, inputs: list) -> None:
    """Raises for a tensor inside of the graph that the IR can't say: its types know neither device nor layout."""
    devices = {value.device.type for value in inputs if isinstance(value, torch.Tensor)} or {"cpu"}
    for node in graph.nodes:
        if isinstance(node.meta.get("val"), torch.SymFloat | torch.SymBool):
            raise DataDependentOutputException(node.target)
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


def _static_inputs(gm: torch.fx.GraphModule) -> set[int]:
    """Parameters and buffers: what Dynamo marks as static, by position."""
    return {
        index
        for index, node in enumerate(gm.graph.find_nodes(op="placeholder"))
        if "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {}) or "dovetail_name" in node.meta
    }


def _describe(
    gm: torch.fx.GraphModule,
    graph: torch.fx.Graph,
    names: list[str],
    values: list,
    static: set[int],
    run: EagerRun,
    seen: Observations,
    groups: tuple[AliasGroup, ...],
) -> Capture:
    """Ties every graph input and output to the fact that its descriptor states."""
    plain: dict[int, torch.fx.Node] = {}
    tangents: dict[int, torch.fx.Node] = {}
    for node in graph.find_nodes(op="placeholder"):
        match node.meta["desc"]:
            case aot.PlainAOTInput(idx=index):
                plain[index] = node
            case aot.TangentAOTInput(output=aot.PlainAOTOutput(idx=index)):
                tangents[index] = node
            case aot.ForwardTokenAOTInput() | aot.BackwardTokenAOTInput():
                continue  # library calls keep their order without
            case other:
                raise UnsupportedError(f"graph input {node.name}: {other} is not supported yet")
    returned: dict[int, torch.fx.Node] = {}
    gradients: dict[int, torch.fx.Node] = {}
    output = graph.output_node()
    outputs = cast(Sequence[torch.fx.Node], output.args[0])
    for descriptor, node in zip(output.meta["desc"], outputs, strict=True):
        match descriptor:
            case aot.PlainAOTOutput(idx=index):
                returned[index] = node
            case aot.GradAOTOutput(grad_of=aot.PlainAOTInput(idx=index)):
                gradients[index] = node
            case None | aot.ForwardTokenAOTOutput() | aot.BackwardTokenAOTOutput():
                continue
            case other:
                raise UnsupportedError(f"graph output {node}: {other} is not supported yet")
    owned = tuple(
        Owned(
            returned[index],
            each.layout,
            each.requires_grad,
            tangents.get(index),
            seen.backward.watched_owned[index],
            each.base,
        )
        for index, each in enumerate(seen.owned)
    )
    mutated = [index for index, mutation in enumerate(seen.mutations) if mutation is not None]
    places = {argument: len(owned) + place for place, argument in enumerate(mutated)}
    inputs = tuple(
        Input(
            name=name,
            node=plain[index],
            requires_grad=isinstance(values[index], torch.Tensor) and values[index].requires_grad,
            static=index in static,
            mutation=seen.mutations[index],
            mutated_value=returned.get(places.get(index, -1)),
            tangent=tangents.get(places.get(index, -1)),
            layout=seen.layouts[index],
            touches=seen.touches[index],
            gradient=gradients.get(index),
            number=None if isinstance(values[index], torch.Tensor) else values[index],
            watched=seen.backward.watched_arguments[index],
            reached=seen.backward.reached[index],
        )
        for index, name in enumerate(names)
    )
    return Capture(
        graph,
        inputs,
        owned,
        seen.results,
        tuple(tangents.values()),
        groups,
        _fixes_offsets(gm),
        seen.grad_mode,
        next(iter(run.once), None),
        run.convention,
        seen.backward.frees,
        neighbours(values),
    )

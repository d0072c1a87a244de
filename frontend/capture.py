"""The adapter to PyTorch's private API: a Dynamo graph goes in, a joint graph with its facts comes out.

The facts are restated in frozen records, so that nothing after it depends on a PyTorch version: 2.11 to 2.15 do.
`test/layering/test_folders.py` says which files alone touch `torch._functorch`.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch._functorch import config as functorch_config
from torch._functorch.aot_autograd import aot_export_joint_with_descriptors
from torch._guards import TracingContext, tracing
from torch._inductor import config as inductor_config
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.frontend.alike_strands import alike_strands
from dovetail.frontend.capture_checks import (
    check_copies,
    check_histories,
    check_inputs,
    check_metadata,
    check_nodes,
    check_rereads,
    check_tracked,
    check_transforms,
)
from dovetail.frontend.decompose.python_kernels import without_python_kernels
from dovetail.frontend.decompose.table import decided, decompositions
from dovetail.frontend.described import describe
from dovetail.frontend.devices import forget_other_gpus
from dovetail.frontend.dynamo.assertions import keep_assertions
from dovetail.frontend.dynamo.graph import fix_sizes, fixed, input_names, static_inputs
from dovetail.frontend.dynamo.idle_dropout import replace_idle_dropout
from dovetail.frontend.dynamo.inline_subgraphs import inline_subgraphs
from dovetail.frontend.dynamo.number_results import numbers_in_tensors
from dovetail.frontend.dynamo.open_sizes import check_floats, known, note_items, restore_sources, seen_by_dynamo
from dovetail.frontend.dynamo.taken_numbers import taken_numbers
from dovetail.frontend.dynamo.truth_powers import replace_truth_powers
from dovetail.frontend.observe.alias_groups import AliasGroup, alias_groups, may_share_elements, neighbours
from dovetail.frontend.observe.backward_facts import check_saved
from dovetail.frontend.observe.eager_run import eager_run
from dovetail.frontend.observe.observations import observe
from dovetail.frontend.observe.run_facts import EagerRun
from dovetail.frontend.observe.stand_ins import independent
from dovetail.frontend.observe.transforms import closing_transforms
from dovetail.frontend.observe.wrapped_arguments import PlainArguments, flatten_arguments
from dovetail.frontend.records import Capture
from dovetail.frontend.trace.alias_free import AliasFree
from dovetail.frontend.trace.branch_gradients import branch_gradients
from dovetail.frontend.trace.foretold import Foretold, restoring_modes
from dovetail.frontend.trace.open_tangents import open_tangents
from dovetail.frontend.trace.shared_memory import shared_memory

GraphBreak = DataDependentOutputException
"""Dynamo answers it by compiling what is before the op and after it, so it must reach Dynamo."""


@closing_transforms()
def capture(gm: torch.fx.GraphModule, example_inputs: Sequence, env: ShapeEnv | None = None) -> Capture:
    """Traces forward and backward of a Dynamo graph into one functional graph.

    Numbers that are open in `env`, Dynamo's shape environment, stay so; without it, all are those of now.

    Raises:
        UnsupportedError: before anything ran, naming the argument or result that can't be honoured.
    """
    check_transforms()
    forget_other_gpus()
    inline_subgraphs(gm)
    keep_assertions(gm)
    replace_idle_dropout(gm)
    replace_truth_powers(gm)
    with _refusing("its arguments can't be described"):
        if env is None and TracingContext.try_get() is not None:
            fix_sizes(gm)
        if env is not None:
            check_floats(gm)
            note_items(gm, example_inputs)
            restore_sources(gm, example_inputs)
        gm, numbers = numbers_in_tensors(gm)
        taken = taken_numbers(gm, env)
        given = [known(value) if env is not None else fixed(value) for value in example_inputs]
        arguments = flatten_arguments(input_names(gm), given, seen_by_dynamo(gm, given, env))
    names, inputs = list(arguments.names), list(arguments.values)
    check_inputs(names, inputs)
    if env is None and (alike := alike_strands(gm, example_inputs)) is not None:
        captured = capture(alike.once(), [example_inputs[index] for index in alike.arguments])
        if (whole := alike.whole(captured, names)) is not None:
            return whole
    with _refusing("it can't be run on tensors without memory"):
        run, groups = _eager_run(gm, arguments, env)
    check_tracked(run, names, inputs)
    check_copies(run)
    with _refusing("autograd can't tell the history of its results", RuntimeError):
        seen = observe(run, names, groups)
    check_rereads(seen.backward.arguments, names, inputs)
    static = arguments.positions(static_inputs(gm))
    check_histories(seen, static, groups, names)
    with _refusing("it can't be told whether its arguments overlap"):
        shared = [shared_memory(group, inputs, names) for group in groups if _overlaps(group, run)]
    function = AliasFree(gm, seen, shared, torch.is_grad_enabled(), arguments, run, taken)
    anew: list[str] = []
    graph, metadata = _traced(function, inputs, decompositions(), env, anew)
    if function.refusals:
        raise UnsupportedError(function.refusals[0])
    check_metadata(metadata, names)
    check_nodes(graph, env is not None)

    found = describe(
        graph, names, inputs, static, run, seen, groups, lambda: _traced(function, inputs, {}, env, anew)[0]
    )
    results = tuple(
        result if result.owned is None else replace(result, number=numbers.get(seen.owned[result.owned].origin.node))
        for result in found.results
    )
    return replace(found, results=results, traced_anew=tuple(anew))


def _traced(
    function: AliasFree, inputs: Sequence, table: dict, env: ShapeEnv | None, anew: list[str]
) -> tuple[torch.fx.Graph, Any]:
    """The joint graph of `function`, its ops decomposed by `table`, and what PyTorch says of it.

    Where one run does not do, `anew` comes to say why.
    """
    if env is None:
        try:
            with restoring_modes():
                return _exported(Foretold(function), inputs, table, env)
        except UnsupportedError as error:  # what was told wrongly may confuse PyTorch first
            anew.append(str(error))
            function.refusals.clear()
    return _exported(function, inputs, table, env)


def _exported(
    function: torch.nn.Module, inputs: Sequence, table: dict, env: ShapeEnv | None
) -> tuple[torch.fx.Graph, Any]:
    mode = FakeTensorMode(shape_env=env or ShapeEnv())
    # PyTorch gives an `int` a symbol, that of any size which is as large now.
    given = independent(mode, inputs)
    primals = tuple(value if env is None or type(value) is not int else _constant(env, value) for value in given)
    with (
        # Else FX removes unused random ops, and those after them draw other numbers than eager's.
        inductor_config.patch(fallback_random=True),
        # Gradients lie as what they are of, which newer versions take for granted.
        functorch_config.patch(guess_tangent_strides_as_outputs=True),
        tracing(TracingContext(mode)),  # Dynamo's own remembers which sizes it wants symbolic
        branch_gradients(),
        open_tangents(),
        ExitStack() as stack,
        _refusing("PyTorch can't trace it"),
        without_python_kernels(decided()),
    ):
        exported = aot_export_joint_with_descriptors(stack, function, primals, decompositions=table)
    return exported.graph_module.graph, exported._aot_state.fw_metadata


def _constant(env: ShapeEnv, number: int) -> torch.SymInt:
    return torch.SymInt(SymNode(sympy.Integer(number), env, int, number))


@contextmanager
def _refusing(what: str, expected: type[Exception] = Exception) -> Iterator[None]:
    """Whatever PyTorch raises while it runs the graph without computing: what eager does, only eager can tell.

    Where a value must be known, Dynamo breaks the graph.
    """
    try:
        yield
    except GraphBreak:
        raise
    except DovetailError as error:
        # The interpreter adds the node to what is raised below it; the message names the location itself.
        raise type(error)(str(error).split("\n\nWhile executing")[0]) from error
    except expected as error:
        lines = str(error).strip().splitlines() or [""]
        raise UnsupportedError(f"{what}: {type(error).__name__}: {lines[0]}") from error


def _eager_run(
    gm: torch.fx.GraphModule, arguments: PlainArguments, env: ShapeEnv | None
) -> tuple[EagerRun, tuple[AliasGroup, ...]]:
    """One run in which arguments share memory where one of their group is written, and those groups.

    What is learned of the others must hold for independent arguments too: no guard tells them apart.
    Refused is a write of an argument that moves the version counter of another one that autograd saved.
    """
    groups = alias_groups(arguments.values)
    members = tuple(group.members for group in groups)
    near = neighbours(arguments.values)
    is_apart = set(near) <= set(members)
    run = eager_run(gm, arguments, members if is_apart else near, env)
    if not is_apart:
        check_saved(run)
    written = tuple(group for group in groups if run.written.intersection(group.members))
    together = tuple(group.members for group in written)
    is_same = is_apart and together == members
    return (run if is_same else eager_run(gm, arguments, together, env)), written


def _overlaps(group: AliasGroup, run: EagerRun) -> bool:
    """Whether an argument of the group is written that another has elements of, rather than lies between.

    Empty ones have nothing but their history in common.
    """
    written = [index for index in group.members if index in run.written]
    pairs = [(index, other) for index in written for other in group.members if other != index]
    return is_empty(run.arguments[group.members[0]]) or any(
        may_share_elements(run.arguments[index], run.arguments[other]) for index, other in pairs
    )

"""A Dynamo graph as a function of independent arguments to independent results, which is what PyTorch's capture gets.

Everything that is mutated is a copy, everything returned is a copy: there is nothing for the capture to conclude about
aliases. The copies are gone after the first pass, since values have no memory.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext

import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.fx.traceback import preserve_node_meta

from dovetail.frontend.dynamo.checkpoint_regions import CheckpointedRegion, region_of
from dovetail.frontend.dynamo.open_sizes import is_open_value, rebind
from dovetail.frontend.dynamo.source_lines import deciding_at
from dovetail.frontend.dynamo.taken_numbers import check_taken
from dovetail.frontend.observe.observations import Observations
from dovetail.frontend.observe.run_facts import EagerRun, LeavingTensor, OwnedTensor
from dovetail.frontend.observe.wrapped_arguments import PlainArguments, checked_gradients, rebuilt
from dovetail.frontend.trace.copies_at_views import CopiesAtViews, at_origin, independent, last_views
from dovetail.frontend.trace.shared_memory import SharedMemory
from dovetail.frontend.trace.traced_memory import differing_node


class AliasFree(torch.nn.Module):
    """Calls the graph; returns a copy of each tensor that leaves it.

    Args:
        gm: the graph.
        seen: what the call leaves behind.
        shared: the alias groups' memory, where something in them is mutated.
        ambient: autograd's mode of the call.
        inputs: the call's arguments; the graph gets wrapper subclasses around some of them.
        run: the eager run.
        taken: nodes that read a number which is taken for another one: the program checks it.

    Attributes:
        refusals: why the gradient that was traced can't be had.
    """

    def __init__(
        self,
        gm: torch.fx.GraphModule,
        seen: Observations,
        shared: Sequence[SharedMemory],
        ambient: bool,
        inputs: PlainArguments,
        run: EagerRun,
        taken: Collection[torch.fx.Node],
    ):
        super().__init__()
        # In a tuple, so that the graph's own modules don't become submodules with parameters to be captured.
        self.graph_module = (gm,)
        self.seen, self.shared, self.ambient, self.inputs = seen, tuple(shared), ambient, inputs
        self.run, self.taken = run, taken
        self.refusals: list[str] = []

    def forward(self, *primals):
        # Numbers are those of now, unless Dynamo leaves them open: what was observed holds for them only.
        given = [
            primal if isinstance(value, torch.Tensor) or is_open_value(value) else value
            for primal, value in zip(primals, self.inputs.values, strict=True)
        ]
        arguments = self._arguments(checked_gradients(self.inputs, given, self.refusals))
        copies = CopiesAtViews(self.seen.owned, last_views(self.run, self.seen))
        interpreter = _Tagging(*self.graph_module, copies, self.ambient, self.run.mode.shape_env, self.taken)
        with preserve_node_meta(), interpreter.stack:
            interpreter.run(*rebuilt(self.inputs.passed, arguments))
        values = {node.name: value for node, value in interpreter.env.items()}
        differing = differing_node(self.run, arguments, values)
        if differing is not None:
            self.refusals.append(f"node {differing}: PyTorch's tracing gives its result other memory than eager")
        with torch.set_grad_enabled(self.ambient):
            copied = [copies.of(number) for number in range(len(self.seen.leaving))]
            return [
                self._leaving(leaving, values, arguments) if copy is None else copy
                for leaving, copy in zip(self.seen.leaving, copied, strict=True)
            ]

    def _leaving(self, leaving: LeavingTensor, values: dict[str, object], arguments: Sequence) -> torch.Tensor:
        """A copy of a tensor that leaves the call."""
        tensor = at_origin(leaving.origin, values) if isinstance(leaving, OwnedTensor) else arguments[leaving.argument]
        return independent(tensor, self.seen.requires_grad(leaving))

    def _arguments(self, primals: Sequence) -> list:
        found = list(primals)
        changed = zip(self.seen.mutations, self.seen.layouts, strict=True)
        with torch.enable_grad():
            for index, (mutation, layout) in enumerate(changed):
                if mutation is not None or layout is not None:
                    found[index] = _replica(primals[index])
            for memory in self.shared:
                for index, view in memory.arguments(primals).items():
                    found[index] = view
        return found


class _Tagging(torch.fx.Interpreter):
    """Runs the graph, the ops of each checkpointed region under what tags them: `stack`, to be closed.

    Takes the `copies` as it goes, in the call's own mode of autograd, `ambient`; no region has them.
    """

    def __init__(
        self,
        gm: torch.fx.GraphModule,
        copies: CopiesAtViews,
        ambient: bool,
        env: ShapeEnv | None,
        taken: Collection[torch.fx.Node],
    ):
        super().__init__(gm, garbage_collect_values=False)
        self.copies, self.ambient, self.shape_env, self.taken = copies, ambient, env, taken
        self.region: CheckpointedRegion | None = None
        self.tagging: AbstractContextManager = nullcontext()
        self.stack = ExitStack()

    def run_node(self, node: torch.fx.Node):
        region = region_of(node)
        if region != self.region:
            self.stack.close()
            self.region, self.tagging = region, nullcontext() if region is None else region.tagging()
            self.stack.enter_context(self.tagging)
        with deciding_at(node):
            value = super().run_node(node)
        rebind(self.shape_env, node, value)
        if node in self.taken:
            check_taken(node, self.fetch_args_kwargs_from_env(node)[0], value)
        if node.name in self.copies.at:
            self.stack.close()
            with torch.set_grad_enabled(self.ambient):
                self.copies.take(node.name, {each.name: made for each, made in self.env.items()} | {node.name: value})
            self.stack.enter_context(self.tagging)
        return value


def _replica(tensor: torch.Tensor) -> torch.Tensor:
    """A copy with the same strides, whatever they are, and the same history."""
    cloned = tensor.clone()
    if cloned.stride() == tensor.stride():
        return cloned
    made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return made.copy_(tensor)

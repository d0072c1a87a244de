"""Graphs inside of an eager run that PyTorch runs where our dispatch mode does not see their ops.

The branches of `cond`, the graphs of `while_loop`, the backward of a custom `autograd.Function`. They run here once
more, for what is true of an op wherever it stands; nothing of it reaches the run's own tensors.
"""

from collections.abc import Iterator, Sequence

import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.dialects.torch_facts.strides import Strides
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import known
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.dispatch_log import DispatchLog
from dovetail.frontend.observe.op_calls import Took
from dovetail.frontend.observe.operand_layouts import Caller, OperandLayouts

_APPLY = torch.ops.higher_order.autograd_function_apply
_COND, _WHILE_LOOP = torch.ops.higher_order.cond, torch.ops.higher_order.while_loop


def begin(node: torch.fx.Node, args: tuple, log: DispatchLog, operands: OperandLayouts) -> None:
    """Begins `node`, called with `args`, in `log`; before that, runs the graphs that it hides.

    `operands` gets the strides of those of opaque ops in them; none of a backward, which is given others.

    Raises:
        UnsupportedError: for an op that can't be traced, as `DispatchLog` does; where the layout of a result depends on
            which branch runs, or how often a loop.
    """
    runs = [_Interpreter(*graph) for graph in _graphs(node, args)]
    relying = [run.log.addresses_storage for run in runs]
    if node.target is _APPLY and relying[1]:
        # What a backward is given is known when it runs.
        raise UnsupportedError(f"{source_line(node)}: as_strided in the backward of a custom autograd.Function")
    results: list[Strides | None] = []
    if node.target is _COND:
        results = _common(node, "branches", runs[0].results, runs[1].results)
    elif node.target is _WHILE_LOOP:
        results = _common(node, "runs of a loop", args[2], runs[1].results)
    for run in runs[:1] if node.target is _APPLY else runs:
        operands.add(run.operands)
    log.begin(node, results)
    log.addresses_storage |= any(relying)


def _common(node: torch.fx.Node, which: str, first: Sequence, second: Sequence) -> list[Strides | None]:
    """The strides of the `first`, which the `second` have too where a dimension has more than one element."""
    for one, other in zip(first, second, strict=True):
        if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and _positions(one) != _positions(other):
            raise UnsupportedError(f"{source_line(node)}: {which} lay one result out in different ways")
    return [result.stride() if isinstance(result, torch.Tensor) else None for result in first]


def _positions(tensor: torch.Tensor) -> list[int]:
    steps = zip(tensor.size(), tensor.stride(), strict=True)
    return [stride for size, stride in steps if size > 1] if not is_empty(tensor) else []


def _graphs(node: torch.fx.Node, args: tuple) -> Iterator[tuple[torch.fx.GraphModule, tuple]]:
    """Hidden graphs, each with operands."""
    if node.target is _COND:
        _, then, otherwise, operands = args
        yield from ((graph, tuple(operands)) for graph in (then, otherwise))
    elif node.target is _WHILE_LOOP:
        condition, body, carried, others = args
        yield from ((graph, (*carried, *others)) for graph in (condition, body))
    elif node.target is _APPLY:
        forward, backward, *operands = args
        yield forward, tuple(operands)
        examples = (each.meta.get("example_value") for each in backward.graph.find_nodes(op="placeholder"))
        yield backward, tuple(map(_stand_in, examples))


def _stand_in(example):
    """A tensor of its own in place of one of Dynamo's."""
    if not isinstance(example, torch.Tensor):
        return example
    size, stride = (tuple(map(known, numbers)) for numbers in (example.size(), example.stride()))
    return torch.empty_strided(size, stride, dtype=example.dtype, device=example.device)


class _Interpreter(torch.fx.Interpreter):
    """Runs `graph` on `operands`; `results` are what it returns."""

    def __init__(self, graph: torch.fx.GraphModule, operands: tuple):
        super().__init__(graph, garbage_collect_values=False)
        self.log, self.operands = DispatchLog(), OperandLayouts()
        with torch.no_grad():
            # `detach` shares the version counter, which the run's own write in place moves again.
            operands = tree_map_only(torch.Tensor, lambda each: each.data, operands)
            with self.log:
                self.results = tree_leaves(self.run(*operands))

    def run_node(self, node: torch.fx.Node):
        begin(node, self.fetch_args_kwargs_from_env(node)[0], self.log, self.operands)
        result = super().run_node(node)
        for event in self.log.events:
            if isinstance(event, Took):
                self.operands[Caller.of(node, event.op)].append(event.strides)
        return result

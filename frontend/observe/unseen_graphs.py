"""Graphs inside of an eager run that PyTorch runs where our dispatch mode does not see their ops.

The branches of `cond`, the graphs of `while_loop`, the backward of a custom `autograd.Function`. They run here once
more, for what is true of an op wherever it stands; nothing of it reaches the run's own tensors.
"""

from collections.abc import Iterator

import torch
from torch.utils._pytree import tree_map_only

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.dispatch_log import DispatchLog

_APPLY = torch.ops.higher_order.autograd_function_apply


def check_unseen(node: torch.fx.Node, args: tuple) -> bool:
    """Runs the graphs that `node`, called with `args`, hides; returns whether one relies on storage offsets.

    Raises:
        UnsupportedError: for an op that can't be traced, as `DispatchLog` does.
    """
    relying = [_relies_on_offsets(*each) for each in _graphs(node, args)]
    if node.target is _APPLY and relying[1]:
        # What a backward is given is known when it runs.
        raise UnsupportedError(f"{source_line(node)}: as_strided in the backward of a custom autograd.Function")
    return any(relying)


def _graphs(node: torch.fx.Node, args: tuple) -> Iterator[tuple[torch.fx.GraphModule, tuple]]:
    """Hidden graphs, each with operands."""
    if node.target is torch.ops.higher_order.cond:
        _, then, otherwise, operands = args
        yield from ((graph, tuple(operands)) for graph in (then, otherwise))
    elif node.target is torch.ops.higher_order.while_loop:
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
    size, stride = (tuple(map(int, each)) for each in (example.size(), example.stride()))
    return torch.empty_strided(size, stride, dtype=example.dtype, device=example.device)


def _relies_on_offsets(graph: torch.fx.GraphModule, operands: tuple) -> bool:
    log = DispatchLog()
    with torch.no_grad():
        operands = tree_map_only(torch.Tensor, torch.Tensor.detach, operands)
        with log:
            _Unseen(graph, log).run(*operands)
    return log.addresses_storage


class _Unseen(torch.fx.Interpreter):
    def __init__(self, graph: torch.fx.GraphModule, log: DispatchLog):
        super().__init__(graph, garbage_collect_values=False)
        self.log = log

    def run_node(self, node: torch.fx.Node):
        self.log.begin(node)
        args, _ = self.fetch_args_kwargs_from_env(node)
        self.log.addresses_storage |= check_unseen(node, args)
        return super().run_node(node)

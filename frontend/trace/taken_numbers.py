"""Numbers that only data tells and that PyTorch takes for others: what it asserts of such a number is always true.

`torch._check(x.sum().item() == 4)` makes it take the number for 4, and `x + x[mask]` all rows to be in the mask.
"""

from collections.abc import Sequence

import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.graph import graphs_in
from dovetail.frontend.dynamo.source_lines import source_line


def taken_numbers(gm: torch.fx.GraphModule, env: ShapeEnv | None) -> frozenset[torch.fx.Node]:
    """The nodes of `gm` that read a number from a tensor, `item`, which `env` takes for another one.

    Raises:
        UnsupportedError: for sizes that it takes for others, and for numbers in a branch or a loop.
    """
    found: set[torch.fx.Node] = set()
    if env is None:
        return frozenset()
    for graph in graphs_in(gm):
        for node in graph.graph.nodes:
            for symbol, path in (node.meta.get("unbacked_bindings") or {}).items():
                other = env.replacements.get(symbol)
                if other is None:
                    continue
                if path or graph is not gm:
                    raise UnsupportedError(
                        f"{source_line(node)}: PyTorch takes what only data tells for {other}, since a check or an op"
                        " says so: expected that of numbers that `item` reads alone"
                    )
                found.add(node)
    return frozenset(found)


def check_taken(node: torch.fx.Node, operands: Sequence, number: object) -> None:
    """Has the program check that `node`, of its `operands`, reads the `number` that it is taken for."""
    is_equal = (operands[0].detach() == number).all().cpu()  # where a check that fails ends no device
    torch.ops.aten._assert_async.msg(is_equal, f"{source_line(node)}: expected {number}")

"""Numbers that only data tells and that PyTorch takes for others: what it asserts of such a number is always true.

`torch._check(x.sum().item() == 4)` makes it take the number for 4, and `x + x[mask]` all rows to be in the mask.
"""

from collections.abc import Sequence

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch.fx.experimental.symbolic_shapes import ConvertIntKey, ShapeEnv
from torch.utils._pytree import KeyPath

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.graph import graphs_in
from dovetail.frontend.dynamo.source_lines import source_line

# Of what `item` gives: a number, and a truth value.
_OF_ITEMS: tuple[KeyPath, ...] = ((), (ConvertIntKey(),))


def taken_numbers(gm: torch.fx.GraphModule, env: ShapeEnv | None) -> frozenset[torch.fx.Node]:
    """The nodes of `gm` that read a number from a tensor, `item`, which `env` takes for another one.

    Sizes of arguments that `mark_unbacked` names are checked by Dynamo's guards.

    Raises:
        UnsupportedError: for sizes of other tensors that it takes for others, for numbers in a branch or a loop, and
            for such as an argument holds, which PyTorch knows in no second run.
    """
    found: set[torch.fx.Node] = set()
    if env is None:
        return frozenset()
    for graph in graphs_in(gm):
        for node in graph.graph.nodes:
            for symbol, path in (node.meta.get("unbacked_bindings") or {}).items():
                if symbol not in env.replacements or node.op == "placeholder":
                    continue
                if reason := _refusal(node, path, env.replacements[symbol], is_nested=graph is not gm):
                    raise UnsupportedError(f"{source_line(node)}: {reason}")
                found.add(node)
    return frozenset(found)


def _refusal(node: torch.fx.Node, path: KeyPath, other: sympy.Expr, is_nested: bool) -> str:
    """Why the program can't check that the number of `node` at `path` is the `other` one; "" if it can."""
    if path not in _OF_ITEMS:
        return f"PyTorch takes a size that only data tells for {other}, since a check or an op says so"
    if is_nested:
        return f"PyTorch takes a number in a branch or a loop for {other}, since a check or an op says so"
    if not isinstance(node.args[0], torch.fx.Node) or node.args[0].op == "placeholder":
        return f"PyTorch takes the number in an argument for {other}, since a check or an op says so"
    return ""


def check_taken(node: torch.fx.Node, operands: Sequence, number: object) -> None:
    """Has the program check that `node`, of its `operands`, reads the `number` that it is taken for."""
    is_equal = (operands[0].detach() == number).all().cpu()  # where a check that fails ends no device
    said = number if isinstance(number, int | float) else "the number that the call's sizes make"
    message = f"{source_line(node)}: expected to read {said}, as a check or an op of the program says"
    torch.ops.aten._assert_async.msg(is_equal, message)

"""Copies that eager may not make: whether `contiguous` or `reshape` shows its operand hangs on what only data tells.

PyTorch describes an operand of such sizes as one that has to be copied. Of one row, say, eager returns a view, through
which both are written.
"""

from collections.abc import Collection
from typing import NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import storage
from dovetail.frontend.observe.op_calls import OpCall

_COPIES = (torch.ops.aten.clone.default, torch.ops.aten._reshape_copy.default)


class UndecidedCopy(NamedTuple):
    """A copy at a line of the user's, and the memory of what is copied and of what is made."""

    line: str
    source: int
    made: int

    def may_show(self, written: Collection[int], seen: Collection[int]) -> bool:
        """Whether the user may see that it is one: either memory is `written` in the call, or both are `seen` then."""
        return self.source in written or self.made in written or (self.source in seen and self.made in seen)


def undecided_copy(call: OpCall, node: torch.fx.Node | None, result: object) -> UndecidedCopy | None:
    """What `call`, of `node`'s, is of this kind; None of a copy that the user asks for, and of what is none."""
    if call.func not in _COPIES or node is None or not isinstance(result, torch.Tensor):
        return None
    source, asked = call.args[0], str(getattr(node.target, "__name__", node.target)).partition(".")[0]
    if asked == "clone" or not any(map(free_unbacked_symbols, (*source.shape, *source.stride()))):
        return None
    return UndecidedCopy(source_line(node), storage(source), storage(result))

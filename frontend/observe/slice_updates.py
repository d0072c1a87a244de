"""What autograd saves for an in-place op on a slice: its node doesn't tell, so the op runs once more beside it."""

from collections.abc import Callable, Iterator

import torch
from torch.utils._pytree import tree_map

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import memory, root
from dovetail.frontend.observe.autograd_graph import nodes_on_the_way, reachable, saved_by

Call = Callable[[tuple, dict], object]


def saved_by_update(
    call: Call, written: torch.Tensor, required_grad: bool, args: tuple, kwargs: dict
) -> Iterator[torch.Tensor]:
    """What the in-place op `call` on `written`, one of its arguments, saved; `required_grad` says of it before the op.

    Runs it again on a tensor of its own memory: what it saves of that, it saved of `written`.

    Raises:
        UnsupportedError: where it saved another part of what it wrote, so that eager's backward always raises.
    """
    with torch.enable_grad():
        alone = written.detach().clone()
        if required_grad:
            alone = alone.requires_grad_() * 1
    known = reachable([alone])
    call(*tree_map(lambda each: alone if each is written else each, (args, kwargs)))
    for saved in saved_by(nodes_on_the_way([alone], known)):
        if memory(saved) == memory(alone):
            yield written
        elif root(saved) is root(written):
            raise UnsupportedError("autograd saved a value that is written later: a part of what an in-place op wrote")
        else:
            yield saved

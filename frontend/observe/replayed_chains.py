"""Whether the chain of views that leads to a result, replayed after the call, gives what eager gives."""

from collections.abc import Sequence

import torch

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.autograd_graph import version
from dovetail.frontend.observe.run_facts import EagerRun
from dovetail.frontend.observe.view_chains import as_strided, key, replay, view_step
from dovetail.frontend.records import ViewStep

Chain = tuple[ViewStep, ...]


def checked_chain(run: EagerRun, index: int, value: torch.Tensor, root: torch.Tensor, chain: Chain) -> Chain:
    """`chain` if replaying it on how its root ends gives a tensor like `value`, result `index`; else one that does.

    Each step says what it makes of how the root ends.

    Raises:
        UnsupportedError: where there is none, naming the result.
    """
    with run.mode:
        made = _replayed(chain, root)
        if made is None or key(_last(made, root)) != key(value) or _is_regenerated(run, value):
            if (value.dtype, key(value).lazy) != (root.dtype, key(root).lazy):
                raise UnsupportedError(f"result {index}: its view functions can't be replayed")
            chain = (as_strided(key(root), value, None),)
            made = replay(chain, root)
        replayed = _last(made, root)
        requires_grad, base = replayed.requires_grad, replayed._base
    chain = tuple(step.making(tensor) for step, tensor in zip(chain, made, strict=True))
    if requires_grad and not value.requires_grad:
        if value._base is not None:
            raise UnsupportedError(f"result {index}: sizes were changed in place after a tensor was detached")
        return (*chain, view_step("aten.detach.default", (), key(value)))
    if base is not None and not requires_grad and (value._base is None or value._base.size() != base.size()):
        raise UnsupportedError(f"result {index}: sizes were changed in place after a tensor was detached")
    if value.requires_grad and not requires_grad:
        raise UnsupportedError(f"result {index} requires grad, what it is a view of does not")
    return chain


def _replayed(chain: Chain, root: torch.Tensor) -> list[torch.Tensor] | None:
    """What each step makes, None where the root's sizes have changed since the views were made."""
    try:
        return replay(chain, root)
    except (RuntimeError, IndexError, ValueError):
        return None


def _last(made: Sequence[torch.Tensor], root: torch.Tensor) -> torch.Tensor:
    return made[-1] if made else root


def _is_regenerated(run: EagerRun, value: torch.Tensor) -> bool:
    """Whether autograd makes an empty view's node anew, since its base was written: that one ends double backward.

    On tensors without memory it is another one. What was detached is no view to autograd, and has its own node.
    """
    is_view = is_empty(value) and value._base is not None
    return is_view and value.requires_grad and version(value) > run.born.get(id(value), 0)

"""The eager path: a graph that can't be compiled runs as it is, counted and with a warning."""

import logging
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch.utils._pytree import tree_leaves

from dovetail.errors import (
    AliasMismatch,
    DefectWarning,
    DovetailError,
    EagerWarning,
    StartError,
    UnsupportedError,
    warn,
)
from dovetail.frontend.observe.alias_groups import alias_groups, neighbours, retains_grad
from dovetail.frontend.observe.wrapped_arguments import plain_tensors
from dovetail.runtime.stats import current

log = logging.getLogger("dovetail")

# The graph is to blame, or the machine (no compiler, no memory, a full disk). The rest are the compiler's own defects.
_EXPECTED = (UnsupportedError, StartError, OSError, MemoryError)


def eager_variant(function: Callable, arguments: Sequence, error: Exception) -> Callable:
    """`function` as a variant for calls whose arguments share memory as `arguments` do, needed because of `error`."""
    note_eager(error)
    seen = _seen(arguments)

    def run(given: list) -> list:
        if _seen(given) != seen:
            raise AliasMismatch("the arguments share memory in another way")
        return function(*given)

    return run


def note_eager(error: Exception) -> None:
    """Counts a graph that runs eagerly because of `error`, and warns of it."""
    reason = eager_reason(error)
    current().eager[reason] += 1
    if not warned_of_defect(error, "runs a graph eagerly"):
        warn(f"dovetail runs a graph eagerly: {reason}", EagerWarning)


def warned_of_defect(error: Exception, what: str) -> bool:
    """Whether `error` is a defect of the compiler's own, of which this warns; `what` says what is done instead."""
    if isinstance(error, _EXPECTED):
        return False
    log.debug("a defect of the compiler's own", exc_info=error)
    text = f"dovetail {what}, by a defect of its own; please report: {eager_reason(error)}"
    warn(text, DefectWarning)
    return True


def eager_reason(error: Exception) -> str:
    """In one line: an error that was raised on purpose says it itself, of others it takes the type and the place."""
    text = " ".join(str(error).split())
    if isinstance(error, DovetailError):
        return text
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {text} ({Path(frame.filename).name}:{frame.lineno})"


def flat(results) -> list:
    """Results as Dynamo expects them: its own graphs return flat tuples, others might not."""
    return tree_leaves(results, is_leaf=lambda each: each is None)


def _seen(arguments: Sequence) -> tuple:
    """What distinguishes calls beyond what Dynamo guards: shared memory, and whose gradient autograd shall keep."""
    tensors = [tensor for tensor in plain_tensors(arguments) if tensor.layout is torch.strided]
    kept = tuple(index for index, each in enumerate(tensors) if retains_grad(each))
    return alias_groups(tensors), neighbours(tensors), kept

"""The view functions between a tensor and the one it is a view of, as the IR replays them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import torch

from dovetail.dialects.torch_facts.ops import op_name
from dovetail.frontend.dynamo.open_sizes import identity, known
from dovetail.frontend.records import ViewStep


@dataclass(frozen=True, eq=False)
class Key:
    """What tells apart two tensors of one storage: where they lie in it and how they show it.

    `lazy` says whether its elements are conjugated, and whether negated, as they are read. Open numbers are equal where
    they are for all calls; `shown` is which elements these are, to be compared.
    """

    memory: int
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    lazy: tuple[bool, bool]
    shown: Any = field(init=False, repr=False)

    def __post_init__(self):
        numbers = tuple(map(identity, (self.offset, *self.size, *self.stride)))
        object.__setattr__(self, "shown", (numbers, len(self.size), self.dtype))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Key):
            return False
        return (self.memory, self.lazy) == (other.memory, other.lazy) and self.shown == other.shown

    def __hash__(self) -> int:
        return hash((self.memory, self.shown))


class Viewed(NamedTuple):
    """The ATen view function `callee` made `made` of what lay at `source`.

    It lies at `view`, and is part `output_index` of the result, -1 where that is one tensor; `args` are the function's
    other arguments.
    """

    callee: torch._ops.OpOverload
    source: Key
    view: Key
    args: tuple
    output_index: int
    made: torch.Tensor


def key(tensor: torch.Tensor) -> Key:
    """The key of a tensor as it is now."""
    memory = tensor.untyped_storage()._cdata
    size, stride = tuple(tensor.size()), tuple(tensor.stride())
    lazy = (tensor.is_conj(), tensor.is_neg())
    return Key(memory, known(tensor.storage_offset()), size, stride, tensor.dtype, lazy)


def chain_of_calls(
    calls: Sequence[Viewed], source: Key, tensor: torch.Tensor, position: int, grad_mode: bool | None
) -> tuple[ViewStep, ...]:
    """The steps from `source` to `tensor` among the `calls` that one line of the user's program made.

    `tensor` is result number `position` of the line: parts of an expanded tensor may lie together in memory. Where the
    calls don't lead there, one `as_strided` does: same memory, same values, another name in autograd's graph.
    """
    found: list[ViewStep] = []
    wanted = key(tensor)
    # A call that changes nothing (autograd detaches what it saves) leads nowhere.
    left = [call for call in reversed(calls) if call.source != call.view]
    while wanted != source:
        leading = [index for index, call in enumerate(left) if call.view == wanted]
        if not leading:
            break
        chosen = next((index for index in leading if left[index].output_index == position), leading[0])
        found.insert(0, _called(left[chosen], grad_mode))
        wanted = left[chosen].source
        left = left[chosen + 1 :]
    if wanted != source:
        return (as_strided(source, tensor, grad_mode),)
    if found:
        return tuple(found)
    unchanged = [call for call in calls if call.view == call.source == source]
    views = [call for call in unchanged if call.callee is not torch.ops.aten.detach.default]
    return (_called((views or unchanged)[-1], grad_mode),) if unchanged else (as_strided(source, tensor, grad_mode),)


def as_strided(source: Key, tensor: torch.Tensor, grad_mode: bool | None) -> ViewStep:
    """The step that shows the memory of `source` as `tensor`; the offset is relative to that of `source`."""
    offset = known(tensor.storage_offset() - source.offset)
    return view_step("aten.as_strided.default", ([*tensor.size()], [*tensor.stride()], offset), key(tensor), grad_mode)


def view_step(callee: str, args: tuple, made: Key, grad_mode: bool | None = None, output_index: int = -1) -> ViewStep:
    """The step that makes, by the view function `callee`, what lies as `made` does."""
    return ViewStep(callee, args, made.size, made.stride, made.dtype, output_index, grad_mode)


def _called(call: Viewed, grad_mode: bool | None) -> ViewStep:
    callee = call.callee
    args = tuple(_plain(value) for value in call.args)
    if callee is torch.ops.aten.as_strided.default:
        args = (args[0], args[1], known(call.view.offset - call.source.offset))
    return view_step(op_name(callee), args, call.view, grad_mode, call.output_index)


def replay(chain: Sequence[ViewStep], root: torch.Tensor) -> list[torch.Tensor]:
    """What each step of `chain` makes, from `root` on."""
    return list(accumulate(chain, _replayed, initial=root))[1:]


def _replayed(tensor: torch.Tensor, step: ViewStep) -> torch.Tensor:
    namespace, name, overload = step.callee.split(".")
    args = list(step.args)
    if step.callee == "aten.as_strided.default":
        args[2] += tensor.storage_offset()
    with torch.set_grad_enabled(torch.is_grad_enabled() if step.grad_mode is None else step.grad_mode):
        result = getattr(getattr(getattr(torch.ops, namespace), name), overload)(tensor, *args)
    return result if step.output_index < 0 else result[step.output_index]


def _plain(given):
    if isinstance(given, list | tuple):
        return [_plain(value) for value in given]
    return known(given)

"""A call of an op while a graph runs, and what it does to be noted: the events, and what it writes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch

from dovetail.dialects.statements.operand_strides import Stated
from dovetail.dialects.torch_facts.ops import row_of_func
from dovetail.frontend.observe.bound_arguments import is_written, schema, tensors_in
from dovetail.frontend.observe.view_chains import Viewed


class Wrote(NamedTuple):
    """`tensor` was written.

    `when` is autograd's count of nodes: an op's own node comes before, what it saves of its results after it.
    """

    tensor: torch.Tensor
    when: int


class Reshaped(NamedTuple):
    """`tensor` was given other sizes or strides in place; `when` as for `Wrote`."""

    tensor: torch.Tensor
    when: int


class Took(NamedTuple):
    """The opaque `op` took arguments of these strides."""

    op: str
    strides: tuple[Stated, ...]


class Drew(NamedTuple):
    """The op drew random numbers."""

    op: str


Event = Viewed | Wrote | Reshaped | Took | Drew


class OpCall(NamedTuple):
    """A call of `func`; `given` are its arguments by name."""

    func: Any
    args: tuple
    kwargs: dict[str, Any]
    given: Mapping[str, Any]


def writes(call: OpCall) -> list[Wrote | Reshaped]:
    """What the call writes or gives other sizes, as its schema says, or as is known of it."""
    now = torch.autograd._get_sequence_nr()
    arguments = filter(is_written, schema(call.func))
    written = [tensor for argument in arguments for tensor in tensors_in(call.given.get(argument.name))]
    if written and torch.Tag.inplace_view in call.func.tags:
        return [Reshaped(tensor, now) for tensor in written]
    # Batch norm saves its statistics after it has updated the running ones.
    return [*(Wrote(tensor, now) for tensor in written), *(Wrote(tensor, now - 1) for tensor in _unmarked(call))]


def _unmarked(call: OpCall) -> list[torch.Tensor]:
    """What the call writes though its schema does not say so."""
    is_training = schema(call.func) and call.given.get("training")
    names = row_of_func(call.func).writes_in_training if is_training else ()
    return [tensor for name in names for tensor in tensors_in(call.given.get(name))]

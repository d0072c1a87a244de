"""What the user would see of one eager run of a graph, found by running it on tensors without memory.

PyTorch's capture describes aliases and mutations for its own runtime, which leaves out what that one gets from
elsewhere: results that share memory where no gradient flows, writes that autograd or the version counter don't see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten


@dataclass(frozen=True)
class Mutation:
    """What happened to one argument: whether its version counter moved, and whether autograd's history of it did.

    `is_mutated` is true where its memory was written, also past both through `.data`, or through another argument.
    """

    moves_version: bool
    is_tracked: bool
    is_mutated: bool


@dataclass(frozen=True)
class Result:
    """One tensor that the graph returns.

    `argument` is the first argument that it is or shares memory with, None if there is none; `memory` is equal for
    results that share memory. `drops_history` is true for what autograd does not follow back to where it comes from.
    """

    argument: int | None
    is_argument: bool
    memory: int
    drops_history: bool


@dataclass(frozen=True)
class EagerEffects:
    """One entry for each argument and each result of the graph; None where it is no tensor."""

    mutations: tuple[Mutation | None, ...]
    results: tuple[Result | None, ...]


def eager_effects(function: Callable, inputs: Sequence) -> EagerEffects:
    """Runs `function` on stand-ins for `inputs`; computes nothing and draws no random numbers."""
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())
    arguments = [stand_in(mode, value) for value in inputs]
    before = [_autograd_state(argument) for argument in arguments]
    writes = _Writes()
    with mode, writes, torch.set_grad_enabled(torch.is_grad_enabled()):
        returned = tree_flatten(function(*arguments))[0]
    return EagerEffects(
        tuple(_mutation(state, argument, writes) for state, argument in zip(before, arguments, strict=True)),
        tuple(_result(value, arguments) for value in returned),
    )


def stand_in(mode: FakeTensorMode, value):
    """A tensor of `mode` without memory that looks like `value`, its sizes fixed; anything else as it is."""
    return mode.from_tensor(value, static_shapes=True) if isinstance(value, torch.Tensor) else value


def _autograd_state(value):
    return (value._version, value.grad_fn) if isinstance(value, torch.Tensor) else None


class _Writes(TorchDispatchMode):
    """Notes whose memory was written."""

    supports_higher_order_operators = True

    def __init__(self):
        super().__init__()
        self.memories: set[int] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        schema = func._schema.arguments if isinstance(func, torch._ops.OpOverload) else ()
        given = {argument.name: value for argument, value in zip(schema, args, strict=False)} | (kwargs or {})
        for argument in schema:
            is_written = argument.alias_info is not None and argument.alias_info.is_write
            for each in tree_flatten(given.get(argument.name))[0] if is_written else ():
                if isinstance(each, torch.Tensor):
                    self.memories.add(_memory(each))
        return func(*args, **(kwargs or {}))


def _mutation(before, argument, writes: _Writes) -> Mutation | None:
    if before is None:
        return None
    version, history = before
    is_written = _memory(argument) in writes.memories
    return Mutation(argument._version > version, argument.grad_fn is not history, is_written)


def _result(value, arguments: list) -> Result | None:
    if not isinstance(value, torch.Tensor):
        return None
    same = [index for index, argument in enumerate(arguments) if argument is value]
    shared = [
        index
        for index, argument in enumerate(arguments)
        if isinstance(argument, torch.Tensor) and _memory(argument) == _memory(value)
    ]
    argument = next(iter(same + shared), None)
    # Without grad mode nothing has history, and replaying a view drops none. A view made under `no_grad` may say that
    # it requires grad, as its base does, and is a leaf.
    drops_history = torch.is_grad_enabled() and (value.is_leaf or not value.requires_grad)
    return Result(argument, bool(same), _memory(value), drops_history)


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata

"""Reads from the IR what a replay of a gradient takes; its function is loaded when somebody first wants one."""

from collections.abc import Callable
from functools import cache

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DRAWS, FOR_HISTORY, FOR_REPLAY
from dovetail.dialects.reading import Module, argument_facts
from dovetail.dialects.statements.saved import saved_values
from dovetail.dialects.torch_facts.types import is_differentiable
from dovetail.runtime.autograd.replay import Replay
from dovetail.runtime.replaying.joined import load_joined, load_sums


def read_replay(border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp, module: Module) -> Replay:
    """The replay of a border's gradient, of its three functions."""
    stated = {number: each for number, each in enumerate(saved_values(forward, backward)) if each.for_replay}
    facts = [*enumerate(argument_facts(border))]
    arguments = tuple(number for number, each in facts if FOR_REPLAY in each)
    standing_in = tuple(number for number, each in facts if FOR_HISTORY in each and FOR_REPLAY not in each)
    sums = tuple(
        number for number, each in stated.items() if each.is_sum and is_differentiable(backward.type.inputs[number])
    )

    @cache
    def load(absent: frozenset[int]) -> Callable:
        return load_joined(forward, backward, module, arguments, absent)

    @cache
    def load_histories() -> Callable:
        return load_sums(forward, backward, module, {*arguments, *standing_in}, sums)

    copied = {number: each.value_of for number, each in stated.items() if not each.is_checked}
    return Replay(
        arguments,
        tuple(stated),
        {number: argument for number, argument in copied.items() if argument is not None},
        standing_in,
        sums,
        tuple(ir.StringAttr(each).value for each in border.attributes[DRAWS]) if DRAWS in border.attributes else (),
        load,
        load_histories,
    )

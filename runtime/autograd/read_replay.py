"""Reads from the IR what a replay of a gradient takes; its function is loaded when somebody first wants one."""

from collections.abc import Callable
from functools import cache

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DRAWS, FOR_REPLAY
from dovetail.dialects.reading import Module, argument_facts
from dovetail.dialects.statements.saved import saved_values
from dovetail.runtime.autograd.replay import Replay
from dovetail.runtime.replaying.joined import load_joined


def read_replay(border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp, module: Module) -> Replay:
    """The replay of a border's gradient, of its three functions."""
    stated = {number: each for number, each in enumerate(saved_values(forward, backward)) if each.for_replay}
    arguments = tuple(number for number, facts in enumerate(argument_facts(border)) if FOR_REPLAY in facts)

    @cache
    def load(absent: frozenset[int]) -> Callable:
        return load_joined(forward, backward, module, arguments, absent)

    copied = {number: each.value_of for number, each in stated.items() if not each.is_checked}
    return Replay(
        arguments,
        tuple(stated),
        {number: argument for number, argument in copied.items() if argument is not None},
        tuple(ir.StringAttr(each).value for each in border.attributes[DRAWS]) if DRAWS in border.attributes else (),
        load,
    )

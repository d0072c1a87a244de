"""What `verify-level` asks of the border to autograd: that both sides of it agree."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, SAVED, TANGENT_OF
from dovetail.dialects.calls import referred
from dovetail.passes.base import fail
from dovetail.passes.rewriting.cloning import fact


def check_border(border: func.FuncOp, found: Mapping[str, func.FuncOp], pass_name: str) -> None:
    """Raises PassError where `border`'s forward or backward, among `found`, take or return something else."""
    for attribute in (FORWARD, BACKWARD):
        if attribute not in border.attributes:
            raise fail(border, pass_name, f"expects '{FORWARD}' and '{BACKWARD}', got no '{attribute}'")
        if referred(border, attribute) not in found:
            raise fail(border, pass_name, f"refers to '@{referred(border, attribute)}', which is not defined")
    forward, backward = found[referred(border, FORWARD)], found[referred(border, BACKWARD)]
    arguments, owned = list(border.type.inputs), list(border.type.results)
    returned, taken = list(forward.type.results), list(backward.type.inputs)
    if list(forward.type.inputs) != arguments or returned[: len(owned)] != owned:
        raise fail(border, pass_name, f"expects its forward to take and return first what it does, got {forward.type}")
    saved = returned[len(owned) :]
    if taken[: len(saved)] != saved or len(backward.type.results) != len(arguments):
        expected = f"the {len(saved)} saved values first and return {len(arguments)} gradients"
        raise fail(border, pass_name, f"expects its backward to take {expected}, got {backward.type}")
    for index in range(len(owned), len(returned)):
        _check_saved(forward, index, pass_name)
    for index in range(len(saved), len(taken)):
        _check_tangent(backward, index, len(owned), pass_name)


def _check_saved(forward: func.FuncOp, index: int, pass_name: str) -> None:
    check = fact(forward, "res_attrs", index, SAVED)
    if str(check) not in ('"checked"', '"private"'):
        expected = f'expects result {index} to have \'{SAVED}\', "checked" or "private"'
        raise fail(forward, pass_name, f"{expected}, got {check or 'none'}")


def _check_tangent(backward: func.FuncOp, index: int, owned: int, pass_name: str) -> None:
    tied = fact(backward, "arg_attrs", index, TANGENT_OF)
    if not isinstance(tied, ir.IntegerAttr) or not 0 <= tied.value < owned:
        expected = f"expects argument {index} to have '{TANGENT_OF}', one of the {owned} results"
        raise fail(backward, pass_name, f"{expected}, got {tied or 'none'}")

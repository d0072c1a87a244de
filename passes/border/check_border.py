"""Whether a border and its two functions fit together, which whoever reads them relies on."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, SAVED, TANGENT_OF
from dovetail.dialects.reading import Module, Role, argument_fact, referred, result_fact, role
from dovetail.passes.base import fail


def check_border(border: func.FuncOp, module: Module) -> None:
    """Raises PassError where `border`'s forward or backward take or return something else."""
    found = module.functions
    for name, wanted in ((FORWARD, Role.FORWARD), (BACKWARD, Role.BACKWARD)):
        if name not in border.attributes:
            raise fail(border, f"expects '{FORWARD}' and '{BACKWARD}', got no '{name}'")
        if referred(border, name) not in found:
            raise fail(border, f"refers to '@{referred(border, name)}', which is not defined")
        if role(found[referred(border, name)]) is not wanted:
            raise fail(border, f"refers to '@{referred(border, name)}', which is no {wanted.value}")
    forward, backward = found[referred(border, FORWARD)], found[referred(border, BACKWARD)]
    arguments, owned = list(border.type.inputs), list(border.type.results)
    returned, taken = list(forward.type.results), list(backward.type.inputs)
    if list(forward.type.inputs) != arguments or returned[: len(owned)] != owned:
        raise fail(border, f"expects its forward to take and return first what it does, got {forward.type}")
    saved = returned[len(owned) :]
    if taken[: len(saved)] != saved or len(backward.type.results) != len(arguments):
        expected = f"the {len(saved)} saved values first and return {len(arguments)} gradients"
        raise fail(border, f"expects its backward to take {expected}, got {backward.type}")
    for index in range(len(owned), len(returned)):
        check = result_fact(forward, index, SAVED)
        if str(check) not in ('"checked"', '"private"'):
            expected = f'expects result {index} to have \'{SAVED}\', "checked" or "private"'
            raise fail(forward, f"{expected}, got {check or 'none'}")
    for index in range(len(saved), len(taken)):
        tied = argument_fact(backward, index, TANGENT_OF)
        if not isinstance(tied, ir.IntegerAttr) or not 0 <= tied.value < len(owned):
            expected = f"expects argument {index} to have '{TANGENT_OF}', one of the {len(owned)} results"
            raise fail(backward, f"{expected}, got {tied or 'none'}")

"""What `verify-level` asks of `@guard`: it says of each argument what the runtime compares."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import APART, GROUP, MUTATED, NAME, OBJECT, OFFSET, ROOT, START
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import argument_fact, attribute
from dovetail.passes.base import fail

_SHARED = (GROUP, START, ROOT, OBJECT)


def check_guard(guard: func.FuncOp, pass_name: str) -> None:
    """Raises PassError for an argument that is no ref, has no name, or of whose memory only a part is said."""
    arguments = guard.type.inputs
    mutated = attribute(guard, MUTATED)
    if not isinstance(mutated, ir.IntegerAttr) or not 0 <= mutated.value <= len(arguments):
        raise fail(
            guard,
            pass_name,
            f"expects '{MUTATED}' to be 0 to {len(arguments)} of its arguments, got {mutated or 'none'}",
        )
    for index, type_ in enumerate(arguments):
        if not isinstance(type_, RefType) or argument_fact(guard, index, NAME) is None:
            raise fail(guard, pass_name, f"expects argument {index} to be a ref with a '{NAME}', got '{type_}'")
        for name in (APART, OFFSET):
            number = argument_fact(guard, index, name)
            if number is not None and not isinstance(number, ir.IntegerAttr):
                raise fail(guard, pass_name, f"expects '{name}' of argument {index} to be a number, got {number}")
        given = [name for name in _SHARED if argument_fact(guard, index, name)]
        if given and len(given) < len(_SHARED):
            expected = f"'{GROUP}', '{START}', '{ROOT}' and '{OBJECT}' together"
            raise fail(guard, pass_name, f"expects argument {index} to have {expected}, got {', '.join(given)}")

"""Whether inputs have sizes that a module allows, checked before anything runs."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import RANGE, SYMBOL
from dovetail.dialects.reading import argument_facts, numbers
from dovetail.dialects.sizes.size_expressions import evaluated, said
from dovetail.dialects.sizes.symbols import sizes_of
from dovetail.dialects.torch_facts.sizes import LARGEST
from dovetail.errors import InputError
from dovetail.runtime.reference.drawn_sizes import given_symbols


def check_sizes(entry: func.FuncOp, names: Sequence[str], values: Sequence) -> dict[int, int]:
    """The number that each symbol is in a call of `entry` with `values`, whose types fit; `names` are for messages.

    Raises:
        InputError: for a number out of the range that the module states, and for a size that does not follow from the
            numbers; it names the input, the dimension and the bound.
    """
    called = dict[int, str]()
    for name, value, facts in zip(names, values, argument_facts(entry), strict=True):
        if SYMBOL in facts:
            called[ir.IntegerAttr(facts[SYMBOL]).value] = name
            least, most = numbers(facts, RANGE) or (0, LARGEST)
            if not least <= value <= most:
                bound = f"at least {least}" if value < least and most == LARGEST else f"{least} to {most}"
                raise InputError(f"{name}: expected {bound}, got {value}")
    symbols = given_symbols(entry, values)
    for name, value, argument in zip(names, values, entry.arguments, strict=True):
        for dim, size in enumerate(sizes_of(argument) or ()):
            try:
                expected = evaluated(size, symbols)
            except ZeroDivisionError as error:
                message = f"{name}: expected dimension {dim} to be {said(size, called)}, which divides by 0"
                raise InputError(message) from error
            if value.shape[dim] != expected:
                of = f"{expected}, which is {said(size, called)}"
                raise InputError(f"{name}: expected dimension {dim} to be {of}; it is {value.shape[dim]}")
    return symbols

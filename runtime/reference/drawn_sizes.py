"""Sizes that a module leaves open, drawn for one run of it: as the ranges of its symbols and their facts allow."""

from collections.abc import Mapping, Sequence
from itertools import permutations

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import RANGE, SYMBOL
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import argument_facts, numbers
from dovetail.dialects.sizes.size_expressions import evaluated
from dovetail.dialects.sizes.symbols import sizes_of
from dovetail.dialects.statements.devices import CPU
from dovetail.dialects.torch_facts.sizes import OpenSize, row_major
from dovetail.errors import ModuleError

_MOST = 5
"""How far above the smallest value that is allowed a size is drawn: small ones show what large ones do."""


def drawn_symbols(entry: func.FuncOp, generator: torch.Generator) -> dict[int, int]:
    """A value for each symbol among the arguments of `entry`, by its number."""
    found: dict[int, int] = {}
    for facts in argument_facts(entry):
        if SYMBOL in facts:
            least, most = numbers(facts, RANGE) or (0, _MOST)
            drawn = torch.randint(0, min(most - least, _MOST) + 1, (), generator=generator, device=CPU)
            found[ir.IntegerAttr(facts[SYMBOL]).value] = least + int(drawn)
    return found


def given_symbols(entry: func.FuncOp, inputs: Sequence) -> dict[int, int]:
    """The values of the symbols in a call of `entry` with `inputs`."""
    facts = enumerate(argument_facts(entry))
    return {ir.IntegerAttr(stated[SYMBOL]).value: inputs[index] for index, stated in facts if SYMBOL in stated}


def layout(value: ir.Value, symbols: Mapping[int, int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides, in elements, of the ref `value`. What nothing is known of is 2; open strides are dense.

    Raises:
        NotImplementedError: for sizes of symbols that are no arguments.
        ModuleError: for sizes that no tensor has.
    """
    type_, known = RefType(value.type), sizes_of(value)
    sizes = type_.shaped.shape if known is None else [_drawn_size(value, size, symbols) for size in known]
    shape = tuple(2 if size is None else size for size in sizes)
    return shape, _dense(shape, type_.strides)


def _drawn_size(value: ir.Value, size: ir.AffineExpr, symbols: Mapping[int, int]) -> int:
    try:
        found = evaluated(size, symbols)
    except KeyError as error:
        raise NotImplementedError(f"{value.location}: a gradient whose sizes only data tells can't be drawn") from error
    except ZeroDivisionError:
        found = None
    if found is None or not 0 <= found < 2**63:
        drawn = ", ".join(f"s{number} = {each}" for number, each in symbols.items())
        raise ModuleError(f"{value.location}: no tensor has a size of {size}, where {drawn}")
    return found


def _dense(shape: tuple[int, ...], strides: Sequence[OpenSize]) -> tuple[int, ...]:
    """The strides that are stated, those that are open such that no memory lies between elements, if there are any."""
    for order in permutations(range(len(shape))):
        steps = dict(zip(order, row_major(shape[dim] for dim in order), strict=True))
        if all(stated in (None, steps[dim]) for dim, stated in enumerate(strides)):
            return tuple(steps[dim] for dim in range(len(shape)))
    return tuple(step if stated is None else stated for stated, step in zip(strides, row_major(shape), strict=True))

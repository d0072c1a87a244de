"""What a seed means: one program, or several forms of one."""

from random import Random

import torch

from dovetail.tools.fuzz import computations, data, derivatives, errors, generate
from dovetail.tools.fuzz.computations import sizes
from dovetail.tools.fuzz.computations.generate import LARGE_EVERY, Generator, forms
from dovetail.tools.fuzz.data.generate import generate as generate_data
from dovetail.tools.fuzz.derivatives.generate import generate as generate_derivatives
from dovetail.tools.fuzz.errors.generate import generate as generate_errors
from dovetail.tools.fuzz.program import Program

# By kind; a seed means the same programs as long as its number stays.
GENERATORS = {
    "alias": generate.GENERATOR,
    "compute": computations.GENERATOR,
    "dynamic": sizes.GENERATOR,
    "data": data.GENERATOR,
    "derivatives": derivatives.GENERATOR,
    "errors": errors.GENERATOR,
}
KINDS = tuple(GENERATORS)

# Whose regions IREE compiles whatever the seed: run op by op, ATen refuses what eager does.
THROUGH_IREE = ("errors",)

_IN_ONE_FORM = {
    "alias": generate.generate,
    "dynamic": sizes.generate,
    "data": generate_data,
    "derivatives": generate_derivatives,
    "errors": generate_errors,
}


def programs(kind: str, seed: int) -> tuple[Program, ...]:
    """The program of this seed, in each of its forms, or in one.

    It is drawn on the CPU, which says at once what eager refuses: after a bad index a process can use no GPU any more.
    """
    with torch.device("cpu"):
        if kind in _IN_ONE_FORM:
            return (_IN_ONE_FORM[kind](seed),)
        draw = Random(f"{kind}:{computations.GENERATOR}:{seed}")
        return forms(Generator(draw, large=seed % LARGE_EVERY == 0).program(), draw)


def program(kind: str, seed: int, form: str) -> Program:
    """The program of this seed in one form."""
    (found,) = (each for each in programs(kind, seed) if each.form == form)
    return found

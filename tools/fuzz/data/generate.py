"""A program from a seed, that makes a tensor whose size only data tells, and shows, copies and writes it."""

import math
from dataclasses import replace
from random import Random

from dovetail.tools.fuzz import data
from dovetail.tools.fuzz.computations.sizes import OpenGenerator, with_drawn_sizes
from dovetail.tools.fuzz.data.lines import MAKES, USES
from dovetail.tools.fuzz.program import CodeLine, Parameter, Program
from dovetail.tools.fuzz.rules import Rule, choice

_ATTEMPTS = 50  # at the line that makes the tensor
_LENGTHS = (1, 2, 2, 3, 3, 4, 5)  # ideas after the one that makes the tensor
_OF_THESE = 0.75  # of them, that `USES` has; the others are those of kind dynamic


def generate(seed: int) -> Program:
    """The program of this seed; its calls have other numbers each, and mostly other sizes."""
    draw = Random(f"data:{data.GENERATOR}:{seed}")
    generator = _Generator(draw, large=False)
    program = generator.program()
    program = with_drawn_sizes(draw, program, generator.kind, False, generator.layouts)
    return replace(program, fullgraph=True)  # else Dynamo breaks the graph where the size is made


class _Generator(OpenGenerator):
    """Draws a tensor of such a size first, and mostly goes on from what was made last."""

    def _body(self, length: int) -> tuple[CodeLine, ...]:
        attempts = (self._line(choice(MAKES, self.draw)) for _ in range(_ATTEMPTS))
        lines = next(filter(None, attempts), [])  # of numbers that are not ordinary, few lines are wanted
        return (*lines, *super()._body(self.draw.choice(_LENGTHS)))

    def _parameters(self) -> tuple[Parameter, ...]:
        """The first one has rows, and numbers in them."""
        return next(found for found in iter(super()._parameters, None) if math.prod(found[0].shape) and found[0].shape)

    def _rule(self) -> Rule:
        return choice(USES, self.draw) if self.draw.random() < _OF_THESE else super()._rule()

    def _operands(self, count: int) -> tuple[str, ...]:
        made = [name for name in self.tensors if name.startswith("v")]
        if count > 1 or not made or self.draw.random() < 0.3:
            return super()._operands(count)
        return (self.draw.choice(made[-2:]),)

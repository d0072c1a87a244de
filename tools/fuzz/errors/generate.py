"""A program that eager refuses, from a seed: lines of kind compute, perhaps a write to an argument, a wrong line."""

from dataclasses import replace
from random import Random

from dovetail.tools.fuzz import errors
from dovetail.tools.fuzz.computations.generate import Generator
from dovetail.tools.fuzz.errors.lines import REFUSED, WRITES
from dovetail.tools.fuzz.program import CodeLine, Program
from dovetail.tools.fuzz.rules import choice

_LENGTHS = (0, 1, 2, 3)  # ideas before the wrong line
_RAISED = (
    RuntimeError,
    IndexError,
    ValueError,
    TypeError,
    NotImplementedError,
    ArithmeticError,
    AttributeError,
    KeyError,
)


def generate(seed: int) -> Program:
    """The program of this seed."""
    draw = Random(f"errors:{errors.GENERATOR}:{seed}")
    generator = _Generator(draw, large=False)
    program = generator.program()
    calls = tuple(replace(call, backward="none") for call in program.calls[:1])
    # An op whose result nothing uses is left out, and its error too.
    return replace(program, calls=calls, results=(*program.results, CodeLine("{0}", (generator.last,))))


class _Generator(Generator):
    """Ends with a line that eager refuses, and, half of the times, one more that uses it.

    Attributes:
        last: what the last line gives.
    """

    last = "wrong"

    def _body(self, length: int) -> tuple[CodeLine, ...]:
        lines = list(super()._body(self.draw.choice(_LENGTHS)))
        if self.draw.random() < 0.5:
            lines += self._line_on(self.draw.choice(self.parameters).name)
        lines.append(self._refused())
        if self.draw.random() < 0.5:
            lines.append(CodeLine("{0} * 2", (self.last,), ("after",)))
            self.last = "after"
        return tuple(lines)

    def _line_on(self, name: str) -> list[CodeLine]:
        """A write to the argument, if eager accepts it."""
        line = CodeLine(choice(WRITES, self.draw).make(self.draw, []) or "", (name,), (f"v{self.made}",))
        return [line] if self._runs(line) else []

    def _refused(self) -> CodeLine:
        """The first drawn line that eager refuses; of some tensors it accepts most."""
        while True:
            (operand,) = self._operands(1)
            line = CodeLine(choice(REFUSED, self.draw).make(self.draw, []) or "", (operand,), (self.last,))
            try:
                exec(str(line), self.space)
            except _RAISED:
                return line

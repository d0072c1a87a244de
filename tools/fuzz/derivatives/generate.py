"""A program whose derivatives are taken in many ways, from a seed: lines of kind compute, and what callers ask."""

from dataclasses import replace
from random import Random

from dovetail.tools.fuzz import derivatives
from dovetail.tools.fuzz.computations.generate import Generator
from dovetail.tools.fuzz.derivatives.singular import REDRAWN, SINGULAR
from dovetail.tools.fuzz.derivatives.uses import AFTER, AROUND, written
from dovetail.tools.fuzz.program import Call, CodeLine, Program
from dovetail.tools.fuzz.rules import Rule, choice

REDRAWING = "checkpoint, preserve_rng_state=False"
_FORMS = {"": 70, "checkpoint": 12, REDRAWING: 18}
_ATTEMPTS = 8  # at a line


def generate(seed: int) -> Program:
    """The program of this seed, in the one form that is drawn for it."""
    draw = Random(f"derivatives:{derivatives.GENERATOR}:{seed}")
    form = _drawn(draw, _FORMS)
    generator = _Generator(draw, form)
    program = generator.program()
    while not generator.is_differentiable(program):
        generator = _Generator(draw, form)
        program = generator.program()
    ways = _ways(program, form)
    way = _drawn(draw, ways)
    calls = tuple(_asked(draw, call, way, ways, len(program.results)) for call in program.calls)
    return replace(program, calls=calls, form=form)


def _ways(program: Program, form: str) -> dict[str, int]:
    """What may be asked: `vmap` draws no random numbers, and most transforms don't enter `checkpoint`."""
    if form == REDRAWING:
        return {name: weight for name, weight in AFTER.items() if name in ("some", "grad", "second")}
    has_statistics = any("register_buffer" in each.template for each in program.state)
    return AFTER if form or has_statistics else AFTER | AROUND


class _Generator(Generator):
    """Ends, mostly, with a line whose derivatives are out of the ordinary, or with random numbers to draw anew."""

    def __init__(self, draw: Random, form: str):
        super().__init__(draw, large=False)
        self.form = form

    def is_differentiable(self, program: Program) -> bool:
        """Whether there is a result of which a gradient can be asked."""
        return any(self.tensors[name].requires_grad for result in program.results for name in result.operands)

    def _body(self, length: int) -> tuple[CodeLine, ...]:
        lines = super()._body(max(2, length - 2))
        if self.draw.random() < 0.6:
            lines += self._returned(choice(SINGULAR, self.draw))
        if self.form == REDRAWING:
            lines += self._returned(REDRAWN)
        return lines

    def _returned(self, rule: Rule) -> tuple[CodeLine, ...]:
        """Lines of the rule, which the program returns."""
        for _ in range(_ATTEMPTS):
            lines = self._line(rule)
            self.returned |= {name for line in lines for name in line.targets}
            if lines:
                return tuple(lines)
        return ()


def _asked(draw: Random, call: Call, way: str, ways: dict[str, int], results: int) -> Call:
    """The call, and what its caller asks: mostly in the same way as of the other calls, of other results."""
    if call.backward == "none":
        return call
    if draw.random() < 0.2:
        way = _drawn(draw, ways)
    count = draw.randint(1, max(1, results - 1))
    return replace(call, backward=written(way, tuple(sorted(draw.sample(range(results), count)))))


def _drawn(draw: Random, weights: dict[str, int]) -> str:
    """One of the names, by weight."""
    return draw.choices(list(weights), list(weights.values()))[0]

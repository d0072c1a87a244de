"""A program from a seed, whose calls have other sizes each: which sizes may change, running it eagerly shows."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from random import Random

from dovetail.tools.fuzz.computations.generate import LARGE_EVERY, Generator, forms
from dovetail.tools.fuzz.computations.inputs import draw_inputs, reseed
from dovetail.tools.fuzz.computations.memory_bound import bounded_memory
from dovetail.tools.fuzz.computations.open_lines import ALIASES, NUMBERS, OPEN, WITH_NUMBER, WRITES
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.rules import Rule, choice
from dovetail.tools.fuzz.world import World

# A seed means the same program as long as this stays; a new number of `computations` needs a new one here.
GENERATOR = 7

_MOST = {False: 8_000, True: 1_500_000}  # elements of an argument
_LARGEST_SMALL = 40  # that a size of a few grows to
_NEAR = 9  # how far a size beyond that moves
_ATTEMPTS = 3  # at one size of a call
_MODES = ("",) * 10 + ("torch.no_grad()", "torch.inference_mode()")

Sizes = Mapping[int, int]  # a call's size for each size of the parameters


def generate(seed: int) -> Program:
    """The program of this seed, in the one form that is drawn for it: each call may compile anew."""
    draw = Random(f"dynamic:{GENERATOR}:{seed}")
    generator = OpenGenerator(draw, large=seed % LARGE_EVERY == 0)
    program = generator.program()
    program = with_drawn_sizes(draw, program, generator.kind, generator.large, generator.layouts)
    return draw.choice([each for each in forms(program, draw) if not each.form or generator.may_be_in(each.form)])


class OpenGenerator(Generator):
    """Draws writes, views, sizes that follow from others, and arguments that are numbers or share memory, too."""

    def __init__(self, draw: Random, large: bool):
        super().__init__(draw, large)
        self.layouts = draw.randrange(10**6)  # so that each call has the same

    def may_be_in(self, form: str) -> bool:
        """Not in `checkpoint`, if it writes to arguments: eager writes again; `cond` takes nothing but tensors."""
        if form == "cond" and any(parameter.made for parameter in self.parameters):
            return False
        return not any(self.tensors[each.name]._version for each in self.parameters if each.name in self.tensors)

    def _parameters(self) -> tuple[Parameter, ...]:
        draw, found = self.draw, super()._parameters()
        shape = found[0].shape
        if shape and draw.random() < 0.15:
            found = (*found, Parameter(f"x{len(found)}", made=draw.choice(ALIASES)))
        if shape and draw.random() < 0.3:
            found = (*found, Parameter("n0", made=draw.choice((*NUMBERS, *map(str, shape)))))
        return found

    def _inputs(self) -> tuple[CodeLine, ...]:
        return draw_inputs(Random(self.layouts), self.parameters, self.kind, grads=True)

    def _body(self, length: int) -> tuple[CodeLine, ...]:
        # First of all, since autograd refuses to write to what it has saved.
        lines = self._line(choice(WRITES, self.draw)) if self.draw.random() < 0.4 else []
        return (*lines, *super()._body(length))

    def _rule(self) -> Rule:
        if "n0" in self.space and self.draw.random() < 0.35:
            return choice(WITH_NUMBER, self.draw)
        return choice(OPEN, self.draw) if self.draw.random() < 0.35 else super()._rule()


def with_drawn_sizes(draw: Random, program: Program, kind: str, large: bool, layouts: int) -> Program:
    """`program` with two to four calls, each but the first with other sizes; their arguments are `kind` numbers.

    Sizes that are equal in the first call are equal in each, and no others are. 0 and 1 stay, for which PyTorch
    compiles a graph of their own. Either all sizes are open from the first call on, or the second one opens them.
    """
    dynamic = True if draw.random() < 0.7 else None
    calls = [Call(_inputs(program, {}, kind, "", layouts))]
    for _ in range(draw.choice((1, 2, 3) if dynamic else (2, 3))):
        mode = draw.choice(_MODES)
        sizes = _draw_sizes(draw, program, kind, layouts, large)
        inputs = reseed(draw, _inputs(program, sizes, kind, mode, layouts))
        calls.append(Call(inputs, mode, (), "none" if mode else "once"))
    return replace(program, calls=tuple(calls), dynamic=dynamic)


def _draw_sizes(draw: Random, program: Program, kind: str, layouts: int, large: bool) -> Sizes:
    """Other sizes, as many as eager takes: a line may have a size in its text, and one may follow from another."""
    found = {size: size for size in sorted({size for each in program.parameters for size in each.shape}) if size > 1}
    for size in draw.sample([*found], len(found)):
        for _ in range(_ATTEMPTS):
            changed = found | {size: _other(draw, size)}
            inputs = _inputs(program, changed, kind, "", layouts)
            if _fits(program, changed, large) and _runs(replace(program, calls=(Call(inputs),))):
                found = changed
                break
    return found


def _other(draw: Random, size: int) -> int:
    """Multiples too: a line may want one."""
    if size > _LARGEST_SMALL:
        return size + draw.choice([each for each in range(-_NEAR, _NEAR + 1) if each])
    return draw.choice((2 * size, 3 * size, size + 1, *range(2, _LARGEST_SMALL)))


def _fits(program: Program, sizes: Sizes, large: bool) -> bool:
    few = all(math.prod(_resized(parameter, sizes).shape) <= _MOST[large] for parameter in program.parameters)
    return few and len({*sizes.values()}) == len(sizes)


def _runs(program: Program) -> bool:
    """Whether eager takes the first call."""
    world = World(render(program))
    try:
        with bounded_memory(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            inputs = world.inputs(0)
            world.fn(*(inputs[parameter.name] for parameter in program.parameters))
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
        return False
    finally:
        world.close()
    return True


def _inputs(program: Program, sizes: Sizes, kind: str, mode: str, layouts: int) -> tuple[CodeLine, ...]:
    """The same layouts for all sizes: those that the number `layouts` draws."""
    parameters = tuple(_resized(parameter, sizes) for parameter in program.parameters)
    return draw_inputs(Random(layouts), parameters, kind, grads=not mode)


def _resized(parameter: Parameter, sizes: Sizes) -> Parameter:
    return replace(parameter, shape=tuple(sizes.get(size, size) for size in parameter.shape))

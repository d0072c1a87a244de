"""A program that computes, from a seed. Lines are drawn, run eagerly at once, and kept if their numbers make sense."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from random import Random

import torch

from dovetail.tools.fuzz.computations.by_hand import BY_HAND
from dovetail.tools.fuzz.computations.cancellation import CANCELLATION
from dovetail.tools.fuzz.computations.chains import CHAINS
from dovetail.tools.fuzz.computations.contractions import CONTRACTIONS, IMAGES
from dovetail.tools.fuzz.computations.decisions import CASTS, DECISIONS
from dovetail.tools.fuzz.computations.functions import FUNCTIONS
from dovetail.tools.fuzz.computations.indexing import INDEXING
from dovetail.tools.fuzz.computations.inputs import draw_inputs, draw_kind, reseed, values
from dovetail.tools.fuzz.computations.layouts import LAYOUTS
from dovetail.tools.fuzz.computations.memory_bound import bounded_memory
from dovetail.tools.fuzz.computations.mixed_types import MIXED_TYPES
from dovetail.tools.fuzz.computations.normalisation import NORMALISATION, RUNNING
from dovetail.tools.fuzz.computations.parameters import draw_parameters
from dovetail.tools.fuzz.computations.pointwise import POINTWISE
from dovetail.tools.fuzz.computations.reductions import REDUCTIONS
from dovetail.tools.fuzz.helpers import SOURCES
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.rules import Rule, choice
from dovetail.tools.fuzz.world import World

_TABLES = {
    POINTWISE: 24,
    REDUCTIONS: 22,
    NORMALISATION: 16,
    LAYOUTS: 18,
    DECISIONS: 9,
    CASTS: 9,
    INDEXING: 10,
    CONTRACTIONS: 7,
    FUNCTIONS: 7,
    CHAINS: 34,
    BY_HAND: 18,
    CANCELLATION: 22,
    MIXED_TYPES: 9,
}
_VIEWS = ("{0}", "{0}.detach()", "{0}.reshape(-1)", "{0}.unsqueeze(0)", "{0}.transpose(0, -1)", "{0}[..., :1]")
LARGE_EVERY = 10  # seeds; the arguments of these have 32,768 to 1,048,576 elements
_ATTEMPTS = 12  # at a line
_LARGEST = {False: 20_000, True: 1_100_000}  # elements of a tensor
_BOUND = 1e4  # of what a line computes from ordinary numbers
_EXTRAORDINARY = ("special", "large", "small", "wide")
_NAMED = re.compile(r"\{(\d+)\}")


class Generator:
    """Draws one program; `large` ones have arguments of 32,768 to 1,048,576 elements."""

    def __init__(self, draw: Random, large: bool):
        self.draw = draw
        self.large = large
        self.made = 0
        self.helpers: set[str] = set()
        self.returned: set[str] = set()  # in any case: what ideas begin with, and use

    def program(self) -> Program:
        """The program, in its plain form."""
        draw = self.draw
        self.parameters = self._parameters()
        state, names = self._state()
        self.kind = draw_kind(draw)
        inputs = self._inputs()
        shell = Program(self.parameters, (), (), (Call(inputs),), state=state, helpers=tuple(SOURCES), kind="compute")
        world = World(render(shell))
        self.space = world.namespace | world.inputs(0) | {"self": world.fn}
        world.close()
        given = {name: eval(name, self.space) for name in [*(parameter.name for parameter in self.parameters), *names]}
        self.tensors = {name: each for name, each in given.items() if isinstance(each, torch.Tensor)}
        torch.manual_seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of variances of one number, and of losses that broadcast
            body = self._body(draw.choices((2, 3, 4, 5, 6, 7, 8), (3, 4, 5, 5, 4, 3, 2))[0])
        results = self._results()
        helpers = tuple(name for name in SOURCES if name in self.helpers)
        return Program(self.parameters, body, results, self._calls(inputs), "tuple", state, (), helpers, "compute")

    def _parameters(self) -> tuple[Parameter, ...]:
        return draw_parameters(self.draw, self.large)

    def _inputs(self) -> tuple[CodeLine, ...]:
        """Lines that define the parameters of the first call."""
        return draw_inputs(self.draw, self.parameters, self.kind, grads=True)

    def _state(self) -> tuple[tuple[CodeLine, ...], list[str]]:
        draw, shape = self.draw, self.parameters[0].shape
        if draw.random() > 0.3 or not shape:
            return (), []
        weight = values("normal", draw.randrange(10**6), shape[-1:], self.parameters[0].dtype)
        lines, names = [CodeLine(f"torch.nn.Parameter({weight})", (), ("self.weight",))], ["self.weight"]
        if len(shape) >= 2 and draw.random() < 0.6:
            dtype = self.parameters[0].dtype
            lines.append(CodeLine(f"self.register_buffer('mean', torch.zeros({shape[1]}, dtype={dtype}))"))
            lines.append(CodeLine(f"self.register_buffer('var', torch.ones({shape[1]}, dtype={dtype}))"))
            names.append("self.mean")
        return tuple(lines), names

    def _body(self, length: int) -> tuple[CodeLine, ...]:
        lines: list[CodeLine] = []
        for _ in range(_ATTEMPTS * length):
            if len(lines) >= length:
                break
            lines += self._line(self._rule())
        return tuple(lines)

    def _rule(self) -> Rule:
        table = self.draw.choices(list(_TABLES), list(_TABLES.values()))[0]
        if self.draw.random() < 0.3 and any(tensor.ndim == 4 for tensor in self.tensors.values()):
            table = IMAGES
        rule = choice(table, self.draw)
        return RUNNING if "self.mean" in self.tensors and self.draw.random() < 0.15 else rule

    def _line(self, rule: Rule) -> list[CodeLine]:
        """The lines of one idea, run; only those before one that does not apply, raises, or whose numbers run away."""
        operands = self._operands(rule.operands)
        template = rule.make(self.draw, [self.tensors[name] for name in operands])
        lines: list[CodeLine] = []
        for each in template.split("; ") if template else ():
            line = _step(each, (*operands, *(name for line in lines for name in line.targets)), f"v{self.made}")
            if not self._runs(line):
                break
            lines.append(line)
        if lines:
            self.helpers |= {rule.helper} - {""}
        if len(lines) > 1 and self.draw.random() < 0.6:
            self.returned |= {*lines[0].targets}
        return lines

    def _runs(self, line: CodeLine) -> bool:
        """Whether eager computes what is wanted; its value is an operand from then on."""
        (name,) = line.targets
        try:
            with bounded_memory():
                exec(str(line), self.space)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            return False
        if not self._is_wanted(self.space[name]):
            return False
        self.tensors[name] = self.space[name]
        self.made += 1
        return True

    def _is_wanted(self, value: torch.Tensor) -> bool:
        """One tensor, small enough, and, mostly, finite where the arguments are."""
        if not isinstance(value, torch.Tensor) or value.numel() > _LARGEST[self.large] or value.is_complex():
            return False
        if self.kind in _EXTRAORDINARY or self.draw.random() < 0.05:
            return True
        return bool((value.detach().double().abs() < _BOUND).all())

    def _operands(self, count: int) -> tuple[str, ...]:
        """Recent tensors and arguments first; the second is mostly of the first one's shape."""
        names = list(self.tensors)
        recent = names[-3:] + names[: len(self.parameters)]
        first = self.draw.choice(recent if self.draw.random() < 0.8 else names)
        if count == 1:
            return (first,)
        alike = [name for name in names if self.tensors[name].shape == self.tensors[first].shape]
        return first, self.draw.choice(alike if self.draw.random() < 0.6 else names)

    def _results(self) -> tuple[CodeLine, ...]:
        """The last tensor, and some or all of the others; now and then one twice, a view of one, or an argument."""
        draw = self.draw
        made = [name for name in self.tensors if name.startswith("v")] or list(self.tensors)
        share = draw.choice((0.2, 0.4, 0.4, 1.0))
        wanted = [name for name in made[:-1] if draw.random() < share or name in self.returned]
        found = [CodeLine("{0}", (name,)) for name in wanted]
        if draw.random() < 0.15:
            found.append(self._view(draw.choice(list(self.tensors))))
        if found and draw.random() < 0.05:
            found.append(draw.choice(found))
        return (*found, CodeLine("{0}", (made[-1],)))

    def _view(self, name: str) -> CodeLine:
        template = self.draw.choice(_VIEWS if self.tensors[name].ndim else _VIEWS[:-2])
        return CodeLine(template, (name,))

    def _calls(self, inputs: tuple[CodeLine, ...]) -> tuple[Call, ...]:
        """Two with other numbers, which run the same code; now and then another one in other layouts or modes."""
        draw = self.draw
        calls = [Call(inputs), Call(reseed(draw, inputs))]
        if draw.random() < 0.15:
            mode = draw.choice(("", "torch.no_grad()", "torch.inference_mode()"))
            inputs = draw_inputs(draw, self.parameters, draw_kind(draw), grads=not mode)
            calls.insert(draw.randrange(3), Call(inputs, mode, (), "none" if mode else "once"))
        return tuple(calls)


def _step(template: str, names: Sequence[str], target: str) -> CodeLine:
    """The line `target = template`, with those of the names as operands that it reads."""
    read = list(dict.fromkeys(int(each) for each in _NAMED.findall(template)))
    compact = _NAMED.sub(lambda found: f"{{{read.index(int(found[1]))}}}", template)
    return CodeLine(compact, tuple(names[each] for each in read), (target,))


def forms(program: Program, draw: Random) -> tuple[Program, ...]:
    """The program, its body inside of `checkpoint`, and, of some that keep no state, inside of `cond`."""
    found = [program, replace(program, form="checkpoint")]
    if not program.state and draw.random() < 0.25:
        found.append(replace(program, form="cond"))
    return tuple(found)

"""A program from a seed. Lines are drawn, run eagerly at once, and kept if eager accepts them."""

from dataclasses import replace
from random import Random

import torch

from dovetail.tools.fuzz.draw_calls import draw_calls
from dovetail.tools.fuzz.helpers import SOURCES
from dovetail.tools.fuzz.observe import is_leaf
from dovetail.tools.fuzz.program import Block, Call, CodeLine, Parameter, Program, Statement
from dovetail.tools.fuzz.recipes import data, draw_inputs
from dovetail.tools.fuzz.regions import REGIONS
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.rules import Rule, choice
from dovetail.tools.fuzz.settings import READS, SETS, kept
from dovetail.tools.fuzz.values import BATCH_NORM, CUSTOM, SPECIAL, VALUES, VERSIONS
from dovetail.tools.fuzz.views import DETACHED, VIEWS, WINDOWS
from dovetail.tools.fuzz.world import World
from dovetail.tools.fuzz.writes import RESHAPING_WRITES, WRITES

# A seed means the same program as long as this stays; it moves with every change of what is drawn.
GENERATOR = 4

_SHAPES = [(4,), (6,), (2, 3), (2, 2)] * 4 + [(3, 2), (4, 2), (1, 3), (2, 2, 2), (), (1,)] * 2 + [(0,), (0, 2)]
_DTYPES = ["torch.float32"] * 42 + ["torch.float64"] * 3 + ["torch.int64"] * 2
_DTYPES += ["torch.bool", "torch.int32", "torch.bfloat16", "torch.complex64"]
_TABLES = {VIEWS: 30, WRITES: 30, RESHAPING_WRITES: 2, VALUES: 24, DETACHED: 4, SPECIAL: 2, REGIONS: 8, WINDOWS: 5}
_TABLES |= {VERSIONS: 2, SETS: 3, READS: 2}
_UNASSIGNED = (WRITES, RESHAPING_WRITES, SETS)
_ATTEMPTS = 8  # at a line
_LARGEST = 64  # elements of a tensor


def generate(seed: int) -> Program:
    """The program of this seed."""
    with kept():
        return _Generator(Random(f"{GENERATOR}:{seed}")).program()


class _Generator:
    def __init__(self, draw: Random):
        self.draw = draw
        self.tensors: dict[str, torch.Tensor] = {}  # that a line may use
        self.numbers: list[str] = []
        self.made = 0
        self.helpers: set[str] = set()

    def program(self) -> Program:
        draw = self.draw
        self.parameters = self._parameters()
        state, state_names = self._state()
        captured = (CodeLine(data(4, "torch.float32", 2), (), ("G0",)),) if draw.random() < 0.06 else ()
        aliased = tuple(name.replace("self.", "fn.") for name in state_names if name != "self.mean")
        aliased += ("G0",) if captured else ()
        # Of custom functions Dynamo makes operators whose arguments it takes to be independent, and unchanged until the
        # backward: it raises, or misses eager's version check, where they are not.
        self.custom = choice(CUSTOM, draw) if draw.random() < 0.08 else None
        if self.custom:
            self.parameters, aliased = self.parameters[:1], ()
        shell = Program(self.parameters, (), (), (), state=state, captured=captured, helpers=tuple(SOURCES))
        inputs = self._enter(shell, aliased)
        names = [*(parameter.name for parameter in self.parameters), *state_names, *(("G0",) if captured else ())]
        self.tensors = {name: eval(name, self.space) for name in names}
        body = self._body(draw.choices((2, 3, 4, 5, 6, 7), (2, 4, 5, 4, 3, 2))[0], depth=0)
        results = self._results()
        self.world.close()
        container = draw.choice(["tuple"] * 6 + ["list", "dict", "nested", "nested"])
        program = Program(
            self.parameters,
            body,
            results,
            (),
            "single" if len(results) == 1 and draw.random() < 0.8 else container,
            state,
            captured,
            tuple(name for name in SOURCES if name in self.helpers),
        )
        return draw_calls(draw, program, inputs, aliased)

    def _enter(self, shell: Program, aliased: tuple[str, ...]) -> tuple[CodeLine, ...]:
        """Draws recipes for the arguments until eager accepts one, whose tensors the body is drawn with."""
        while True:
            inputs = draw_inputs(self.draw, self.parameters, aliased)
            world = World(render(replace(shell, calls=(Call(inputs),))))
            try:
                self.space = world.namespace | world.inputs(0) | {"self": world.fn}
            except RuntimeError:  # a view as another element type, of memory that is not dense
                world.close()
                continue
            self.world = world  # whose module Dynamo looks for
            return inputs

    def _parameters(self) -> tuple[Parameter, ...]:
        """One to three; later ones mostly have the first one's shape and type, so that they can alias it."""
        draw = self.draw
        found = [Parameter("x0", draw.choice(_SHAPES), draw.choice(_DTYPES))]
        for number in range(1, draw.choices((1, 2, 3), (4, 7, 2))[0]):
            alike = draw.random() < 0.65
            shape = found[0].shape if alike else draw.choice(_SHAPES)
            dtype = found[0].dtype if alike and draw.random() < 0.9 else draw.choice(_DTYPES)
            found.append(Parameter(f"x{number}", shape, dtype))
        return tuple(found)

    def _state(self) -> tuple[tuple[CodeLine, ...], tuple[str, ...]]:
        draw = self.draw
        if draw.random() > 0.25:
            return (), ()
        lines, names = [], []
        if draw.random() < 0.6:
            lines.append(CodeLine(f"torch.nn.Parameter({data(4, 'torch.float32', 5)})", (), ("self.w",)))
            names.append("self.w")
        if draw.random() < 0.7 or not lines:
            values = data(4, draw.choice(["torch.float32"] * 4 + ["torch.int64"]), 3)
            lines.append(CodeLine(f"self.register_buffer('b', {values})"))
            names.append("self.b")
        if "self.w" in names and draw.random() < 0.3:
            # In one memory, each with a version counter of its own.
            lines.append(CodeLine(f"self.register_buffer('flat', {data(6, 'torch.float32', 4)})"))
            lines.append(CodeLine("torch.nn.utils.vector_to_parameters(self.flat[1:5], [self.w])"))
            names.append("self.flat")
        if draw.random() < 0.5:
            lines.append(CodeLine("self.register_buffer('mean', torch.zeros(2))"))
            lines.append(CodeLine("self.register_buffer('var', torch.ones(2))"))
            names.append("self.mean")
        return tuple(lines), tuple(names)

    def _body(self, length: int, depth: int) -> tuple[Statement, ...]:
        lines: list[Statement] = []
        for _ in range(_ATTEMPTS * length):
            if len(lines) >= length or not self.tensors:
                break
            roll = self.draw.random()
            if depth < 2 and roll < 0.1:
                lines += self._block(depth)
            elif "self.mean" in self.tensors and roll < 0.2:
                lines += self._line(BATCH_NORM)
            elif self.custom and roll < 0.3:
                lines += self._line(self.custom)
            else:
                table = self.draw.choices(list(_TABLES), list(_TABLES.values()))[0]
                if table is RESHAPING_WRITES and self.custom:
                    continue
                lines += self._line(choice(table, self.draw), assigns=table not in _UNASSIGNED)
        return tuple(lines)

    def _block(self, depth: int) -> list[Block]:
        manager = "torch.no_grad()" if torch.is_grad_enabled() else "torch.enable_grad()"
        with eval(manager, self.space):
            body = self._body(self.draw.choice((1, 1, 2, 3)), depth + 1)
        return [Block(manager, body)] if body else []

    def _line(self, rule: Rule, assigns: bool = True) -> list[CodeLine]:
        """The line, run; nothing if the rule does not apply or eager raises."""
        operands = tuple(self._operand() for _ in range(rule.operands))
        template = rule.make(self.draw, [self.tensors[name] for name in operands])
        if template is None:
            return []
        name = f"v{self.made}"
        line = CodeLine(template, operands, (name,) if assigns else ())
        if not self._runs(line) or (assigns and not self._is_wanted(name)):
            return []
        self.made += 1
        self.helpers |= {rule.helper} - {""}
        return [line]

    def _is_wanted(self, name: str) -> bool:
        """Tensors are there to go on with, unless they grow too large; numbers to be returned."""
        value = self.space[name]
        if not isinstance(value, torch.Tensor):
            self.numbers.append(name)
            return True
        if value.numel() > _LARGEST:
            return False
        self.tensors[name] = value
        return True

    def _runs(self, line: CodeLine) -> bool:
        """Whether eager accepts the line. Tensors of which it no longer says how they were made, no line uses again."""
        try:
            exec(str(line), self.space)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            return False
        self.tensors = {name: each for name, each in self.tensors.items() if is_leaf(each) is not None}
        return True

    def _operand(self) -> str:
        """One of the tensors, recent ones and arguments first."""
        names = list(self.tensors)
        recent = names[-3:] + names[: len(self.parameters)]
        return self.draw.choice(recent if self.draw.random() < 0.8 else names)

    def _results(self) -> tuple[CodeLine, ...]:
        """Arguments, intermediates, views of them, duplicates, None and numbers."""
        draw = self.draw
        found = []
        for _ in range(draw.choices((1, 2, 3, 4), (4, 5, 3, 1))[0]):
            roll = draw.random()
            if roll < 0.05 or not self.tensors:
                found.append(CodeLine(draw.choice(["None", "3", "True", "2.5"])))
                continue
            name = self._operand() if roll < 0.7 else next(reversed(self.tensors))
            view = choice(VIEWS, draw).make(draw, [self.tensors[name]]) if draw.random() < 0.2 else None
            line = CodeLine(view or "{0}", (name,))
            found.append(line if self._runs(line) else CodeLine("{0}", (name,)))
        return tuple(found + [CodeLine("{0}", (name,)) for name in self.numbers])

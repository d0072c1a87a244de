"""What a random program is: statements over named variables, and the calls that are made of it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class CodeLine:
    """One line: `targets = template`, with the operands' names filled in at `{0}`, `{1}`, ..."""

    template: str
    operands: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    def __str__(self) -> str:
        expression = self.template.format(*self.operands)
        return f"{', '.join(self.targets)} = {expression}" if self.targets else expression

    def renamed(self, names: Mapping[str, str]) -> "CodeLine":
        """The same line reading other variables."""
        return replace(self, operands=tuple(names.get(operand, operand) for operand in self.operands))


@dataclass(frozen=True)
class Block:
    """Statements under a context manager (`torch.no_grad()`)."""

    manager: str
    body: tuple["Statement", ...]

    def renamed(self, names: Mapping[str, str]) -> "Block":
        """The same block reading other variables."""
        return replace(self, body=tuple(each.renamed(names) for each in self.body))


Statement = CodeLine | Block


@dataclass(frozen=True)
class Parameter:
    """What every call passes at one place: a tensor of this shape and element type (`torch.float32`).

    Where calls have other sizes each, `shape` is the first one's. What is made of the first parameter, a view of it or
    a number (`{0}.shape[0]`), has neither; `made` says how.
    """

    name: str
    shape: tuple[int, ...] = ()
    dtype: str = ""
    made: str = ""


@dataclass(frozen=True)
class Call:
    """One call: how its arguments are made, the mode it runs in, and what its caller does afterwards.

    Attributes:
        inputs: lines that define every parameter, and whatever they are made from.
        mode: a context manager around the call, "" for none.
        later: writes to what was returned or passed, as `outputs[0]` or by parameter name, before the backward.
        backward: "none", "once", "double" for a backward through the backward, or another way of taking derivatives
            (`derivatives.uses`).
    """

    inputs: tuple[CodeLine, ...]
    mode: str = ""
    later: tuple[CodeLine, ...] = ()
    backward: str = "once"


@dataclass(frozen=True)
class Program:
    """A function, or a module where `state` is not empty, and its calls.

    Attributes:
        state: lines of the module's `__init__`, which register parameters and buffers.
        captured: lines that define global tensors which the function may use.
        helpers: names from `helpers.SOURCES` that the body calls.
        results: the expressions that the function returns, packed as `container` says.
        container: "single", "tuple", "list", "dict" or "nested".
        kind: "alias", or "compute" for programs whose numbers are judged by those in double precision.
        form: "" for the body as it is; "checkpoint" and "cond" for the body inside of that, the first with
            `preserve_rng_state=False` after a comma or without.
        dynamic: what `torch.compile` is told of sizes: True leaves all open, None those that change.
        fullgraph: whether it is told to break no graph, so that sizes which only data tells are open, too.
    """

    parameters: tuple[Parameter, ...]
    body: tuple[Statement, ...]
    results: tuple[CodeLine, ...]
    calls: tuple[Call, ...]
    container: str = "tuple"
    state: tuple[CodeLine, ...] = ()
    captured: tuple[CodeLine, ...] = ()
    helpers: tuple[str, ...] = ()
    kind: str = "alias"
    form: str = ""
    dynamic: bool | None = None
    fullgraph: bool = False


def code_lines(statements: Iterable[Statement]) -> Iterator[CodeLine]:
    """Every line, also those in blocks."""
    for statement in statements:
        if isinstance(statement, Block):
            yield from code_lines(statement.body)
        else:
            yield statement

"""The page of everything that a compiled call keeps, from the rows that `test/semantics` tests."""

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import torch
from torch._prims_common import suggest_memory_format
from torch.utils._pytree import tree_leaves
from torch_mlir import ir

from dovetail.compiler import imported
from dovetail.dialects.context import make_context
from dovetail.errors import DovetailError
from dovetail.frontend.capture import capture
from dovetail.frontend.dynamo.graph import lift_attributes
from dovetail.frontend.dynamo.open_sizes import shape_env
from dovetail.passes.pipeline import Pipeline
from dovetail.passes.running.runner import Runner
from dovetail.tools.documented_walk import shortened, stages

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "test/semantics/rows"
GROUPS = {"I": "inputs", "O": "outputs", "J": "joint", "H": "hazards"}
# What a reader of a row can do without.
_NOISE = re.compile(r"^!\w+ = |= torch\.constant\.|= torch\.prim\.ListConstruct|^ *}$|^module")
_COMPUTES = re.compile(r"torch\.aten\.[\w.]+(?= )")


@dataclass(frozen=True)
class Malformed:
    """A row's IR with the first match of `pattern` replaced is refused with an error that contains `message`."""

    pattern: str
    replacement: str
    message: str


@dataclass(frozen=True)
class Row:
    """One observable behaviour: a program that shows it, and what its IR must and must not be.

    Attributes:
        number: its name, such as "I4".
        kept: what the caller sees, in a sentence.
        program: a function, or a module's class.
        leaves: makes the arguments.
        checks: FileCheck directives, without the slashes, for the IR at `level`.
        malformed: how that IR can be wrong; None where the program has none.
        prepare: makes the call's arguments of the leaves, eagerly.
        then: uses (outputs, arguments) after the call; None uses nothing.
        trained: the leaves that require a gradient in training, by position; None stands for all of floating point.
        level: what level of the IR is shown and checked.
        plain_trace: trace without Dynamo, which would keep this from the graph.
        eager: the reason that runs it uncompiled, empty where it is compiled.
        compiled_inference: whether that concerns training only.
        tests: more tests of it, as `file::function` below test/.
        dynamic: `torch.compile`'s argument of that name.
        around: a context that both calls run in, eager and compiled.
    """

    number: str
    kept: str
    program: Callable
    leaves: Callable[[], Sequence]
    checks: str = ""
    malformed: Malformed | None = None
    prepare: Callable | None = None
    then: Callable | None = None
    trained: tuple[int, ...] | None = None
    level: str = "joint"
    plain_trace: bool = False
    eager: str = ""
    compiled_inference: bool = False
    tests: tuple[str, ...] = ()
    dynamic: bool | None = None
    around: Callable[[], AbstractContextManager] = nullcontext

    def is_eager(self, training: bool) -> bool:
        """Whether the call runs uncompiled."""
        return bool(self.eager) and (training or not self.compiled_inference)

    def function(self) -> Callable:
        """The program, callable."""
        is_class = inspect.isclass(self.program)
        return self.program() if is_class else self.program

    def arguments(self, training: bool, times: int = 1) -> list:
        """Fresh leaves, so many `times` as large in each dimension; those that are trained require a gradient."""
        leaves = [_repeated(each, times) for each in self.leaves()]
        for index, leaf in enumerate(leaves):
            is_trained = index in self.trained if self.trained is not None else _is_differentiable(leaf)
            if training and is_trained:
                leaf.requires_grad_()
        return leaves


def rows(root: Path = ROOT) -> list[Row]:
    """The rows of all files of `FOLDER` below `root`, the source tree, inputs first.

    Raises:
        DovetailError: where the repository's tests are not there, as beside an installed package.
    """
    found: list[Row] = []
    for name in GROUPS.values():
        path = root / FOLDER / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"semantics_{name}", path)
        if spec is None or spec.loader is None or not path.exists():
            raise DovetailError(f"{path}: expected a Python file with ROWS, in a checkout of the repository")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        found += module.ROWS
    return found


def captured(row: Row, training: bool) -> ir.Module:
    """The row's program at level `joint`; nothing is compiled.

    Raises:
        UnsupportedError: where it can't be.
    """
    leaves = row.arguments(training)
    arguments = leaves if row.prepare is None else list(row.prepare(*leaves))
    if row.plain_trace:
        return _imported(torch.fx.symbolic_trace(row.function()), arguments)
    found: list[ir.Module | DovetailError] = []

    def keep(gm: torch.fx.GraphModule, example_inputs: Sequence) -> Callable:
        try:
            found.append(_imported(gm, example_inputs))
        except DovetailError as error:
            found.append(error)
        return gm.forward

    torch._dynamo.reset()
    with torch.enable_grad():
        torch.compile(row.function(), backend=keep, fullgraph=True, dynamic=row.dynamic)(*arguments)
    (outcome,) = found
    if isinstance(outcome, DovetailError):
        raise outcome
    return outcome


def lowered(module: ir.Module, level: str) -> ir.Module:
    """`module`, at level `joint`, taken to `level`."""
    Runner().run(passes_to(level), module)
    return module


def passes_to(level: str) -> Pipeline:
    """The compiler's passes up to the last one that leaves a module at `level`."""
    names = [name for name, _ in stages()]
    last = names.index("cleanup" if level == "joint" else level)
    return tuple(each for _, pipeline in stages()[: last + 1] for each in pipeline)


def semantics_sections() -> dict[str, str]:
    """One section for each group of rows."""
    found = rows()
    return {
        f"semantics:{name}": "\n".join(shown(row, _text(row)) for row in found if row.number.startswith(letter))
        for letter, name in GROUPS.items()
    }


def trimmed(text: str, row: Row) -> str:
    """`text` without constants and lists, and without the computations that the row does not check."""
    lines: list[str] = []
    for line in text.splitlines():
        computed = _COMPUTES.search(line)
        if not line.strip() or _NOISE.search(line):
            continue
        if computed is None or computed[0] in row.checks:
            lines.append(line)
        elif lines[-1].strip() != "...":
            lines.append("    ...")
    return dedent("\n".join(lines))


def _text(row: Row) -> str:
    """The IR that the page shows of a row, in full."""
    return "" if row.eager else shortened(lowered(captured(row, training=True), row.level))


def shown(row: Row, text: str) -> str:
    """What the page says of a row whose IR is `text`."""
    source = f"```python\n{dedent(inspect.getsource(row.program)).strip()}\n```\n"
    parts = [f"### {row.number}\n", f"{row.kept}\n", source]
    if row.eager:
        when = "In training it runs" if row.compiled_inference else "Runs"
        parts.append(f'{when} eagerly, and an `EagerWarning` says why: "{row.eager}".\n')
    else:
        text = text.replace(f"{ROOT}/", "")
        parts += [f"At level `{row.level}`:\n", f"```mlir\n{trimmed(text, row)}\n```\n", _refused(row, text)]
    if row.tests:
        parts.append(f"More tests: {', '.join(f'`test/{each}`' for each in row.tests)}.\n")
    return "\n".join(parts)


def _refused(row: Row, text: str) -> str:
    """What the verifier says of the malformed text, and what made it so if that is a word or two."""
    match = re.search(row.malformed.pattern, text) if row.malformed is not None else None
    if row.malformed is None or match is None:
        raise DovetailError(f"{row.number}: expected its IR to match what makes it malformed, got\n{text}")
    before, after = match[0].strip(), match.expand(row.malformed.replacement).strip()
    message = f'"{row.malformed.message}"'
    if "\n" in f"{before}{after}":
        return f"Refused where it is malformed: {message}.\n"
    change = f"with `{after}` in place of `{before}`" if after else f"without `{before}`"
    return f"Refused {change}: {message}.\n"


def _imported(gm: torch.fx.GraphModule, arguments: Sequence) -> ir.Module:
    lifted_gm, lifted = lift_attributes(gm)
    inputs = [*lifted, *arguments]
    return imported(capture(lifted_gm, inputs, shape_env(gm)), inputs, make_context())


def _repeated(leaf: torch.Tensor, times: int) -> torch.Tensor:
    repeated = leaf.repeat([1 if size == 1 else times for size in leaf.shape])
    return repeated.contiguous(memory_format=suggest_memory_format(leaf))


def _is_differentiable(value) -> bool:
    return all(isinstance(each, torch.Tensor) and each.is_floating_point() for each in tree_leaves(value))

"""`dovetail.explain`: what the compiler believes of a function's inputs and outputs.

All is read from the final IR; nothing here is asked of the passes.
"""

import inspect
import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch_mlir import ir

from dovetail.compiler import compile_graph
from dovetail.eager_path import eager_reason
from dovetail.errors import EagerWarning, OptionError
from dovetail.explanation.argument_copies import Copies
from dovetail.explanation.compiled_options import compiled_options
from dovetail.explanation.picture_records import Stage
from dovetail.explanation.pictures.page import page
from dovetail.explanation.program import read_program, stage
from dovetail.explanation.records import Eager, Program
from dovetail.explanation.text import text
from dovetail.frontend.dynamo.graph import lift_attributes
from dovetail.options import Options


@dataclass(frozen=True, repr=False)
class Explanation:
    """What `dovetail.explain` returns; `print` it to read it.

    Attributes:
        graphs: one `Program` for each compiled graph and one `Eager` for each that runs uncompiled, in order. Where a
            graph ran again on arguments that share memory in another way, it has several.
        options: those that the graphs were compiled with.
    """

    graphs: tuple[Program | Eager, ...]
    options: Options

    def __str__(self) -> str:
        return text(self.graphs, self.options)

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.graphs)} graph{'s' if len(self.graphs) != 1 else ''}>"


def explain(fn: Callable, /, *args, html: str | os.PathLike | None = None, **kwargs) -> Explanation:
    """Returns what `torch.compile(fn, backend="dovetail")` believes for a call with these arguments.

    Like that of `dovetail.stats()`, its text is for the caller to print. If `fn` is such a compiled function, it is
    explained with the options that it was compiled with; else with the defaults.

    For each graph: how each input is mutated, shared and differentiated, what each output aliases and how it is
    regenerated, what is copied, saved for the backward, what the backward computes anew, and what each call
    checks first. All of it is read from the IR that would run, with the source lines that it has. A graph that can't be
    compiled says why.

    Dynamo has to run what comes before a graph break to get to what comes after it. So a copy of the call runs once,
    without a backward. `fn`, if it is a module or a method, and the arguments are copied, sharing memory as the
    originals do, and so are tensors that graphs reach otherwise (globals, closures). These, their gradients, the random
    state and the grad mode stay as they are. What Dynamo leaves to Python runs as it is: it prints, and it changes
    objects that are no arguments. `dovetail.stats()` counts the compilation.

    Args:
        fn: a function, a method or a module, compiled already or not.
        args: what it is called with, likewise `kwargs`; the grad mode is that in which `explain` is called.
        html: where to write a page of pictures, one file that needs no network; an earlier file is replaced. `fn` can't
            be given an argument of that name.

    Raises:
        OptionError: before anything runs, if `html` is no file that can be written, or for options that are not valid.
        DovetailError: for arguments that can't be copied, and for options of `fn` that can't be read.
        Exception: what `fn` itself raises; as it does, a `StrictError` with the option `strict`.
    """
    path = None if html is None else _writable(html)
    options = compiled_options(fn)
    copies = Copies()
    compiled: list[tuple[ir.Module | Exception, str, tuple[Stage, ...]]] = []
    stages: list[Stage] = []

    def after(ran: object, module: ir.Module) -> None:
        stages.append(stage(str(ran), module))

    def backend(gm: torch.fx.GraphModule, example_inputs: Sequence) -> Callable:
        lifted_gm, lifted = lift_attributes(gm)
        inputs = copies.inputs([*lifted, *example_inputs])

        def report(outcome: ir.Module | Exception) -> None:
            compiled.append((outcome, _end(gm), tuple(stages)))
            stages.clear()

        program = compile_graph(lifted_gm, inputs, options, report, None if path is None else after)
        return lambda *given: program(*copies.inputs([*lifted, *given]))

    original = getattr(fn, "_orig_mod", fn)  # of a compiled module, which would run as it was compiled
    copied, copied_args, copied_kwargs = copies.call(original, args, kwargs)
    # Else the graphs that are compiled here count for the limit of those that the user compiles.
    known = inspect.signature(torch.compile).parameters
    separate: dict[str, Any] = {"isolate_recompiles": True} if "isolate_recompiles" in known else {}
    with warnings.catch_warnings(), torch.random.fork_rng(), torch.set_grad_enabled(torch.is_grad_enabled()):
        warnings.simplefilter("ignore", EagerWarning)
        torch.compile(copied, backend=backend, dynamic=False, **separate)(*copied_args, **copied_kwargs)
    explanation = Explanation(tuple(_graph(*call) for call in compiled), options)
    if path is not None:
        name = getattr(original, "__qualname__", type(original).__qualname__)
        path.write_text(page(name, explanation.graphs, options), encoding="utf-8")
    return explanation


def _writable(html: str | os.PathLike) -> Path:
    """Where the page goes: opened once, since only the operating system knows what may be written; left as it was."""
    if not isinstance(html, str | os.PathLike):
        raise OptionError(f"explain(html={html!r}): expected a path, got {type(html).__name__}")
    path = Path(html)
    try:
        is_new = not path.exists()
        with path.open("a", encoding="utf-8"):
            pass
        if is_new:
            path.resolve().unlink()
    except OSError as error:
        raise OptionError(
            f"explain(html={os.fspath(html)!r}): {error.strerror}; expected a file that can be written"
        ) from error
    return path


def _graph(outcome: ir.Module | Exception, ends: str, stages: tuple[Stage, ...]) -> Program | Eager:
    if isinstance(outcome, ir.Module):
        return read_program(outcome, ends, stages)
    return Eager(eager_reason(outcome), ends)


def _end(gm: torch.fx.GraphModule) -> str:
    """Where and why Dynamo ended a graph before the function's end, "" if it did not."""
    found = getattr(gm, "compile_subgraph_reason", None)
    if found is None or not found.graph_break:
        return ""
    where = f"{Path(found.user_stack[-1].filename).name}:{found.user_stack[-1].lineno}: " if found.user_stack else ""
    return where + found.reason.strip().splitlines()[0]

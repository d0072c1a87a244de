"""`dovetail.explain`: what the compiler believes of a function's inputs and outputs, read from the final IR."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch_mlir import ir

from dovetail.argument_copies import Copies
from dovetail.compiler import compile_graph
from dovetail.dialects.dovetail import SetGradModeOp
from dovetail.errors import EagerWarning
from dovetail.explanation_inputs import guard, inputs
from dovetail.explanation_outputs import outputs
from dovetail.explanation_records import Eager, Program
from dovetail.explanation_text import text
from dovetail.explanation_work import library_calls, recomputed, regions, saved
from dovetail.frontend.capture import lift_attributes
from dovetail.options import Options
from dovetail.passes.rewriting import body
from dovetail.value_origins import Origins


@dataclass(frozen=True, repr=False)
class Explanation:
    """What `dovetail.explain` returns; `str` is the text that it prints.

    Attributes:
        graphs: one `Program` for each compiled graph and one `Eager` for each that runs uncompiled, in order. Where a
            graph ran again on arguments that share memory in another way, it has several.
    """

    graphs: tuple[Program | Eager, ...]

    def __str__(self) -> str:
        return text(self.graphs)

    def __repr__(self) -> str:
        return f"<Explanation: {len(self.graphs)} graph{'s' if len(self.graphs) != 1 else ''}>"


def explain(fn: Callable, /, *args, **kwargs) -> Explanation:
    """Prints and returns what `torch.compile(fn, backend="dovetail")` believes for a call with these arguments.

    For each graph: how each input is mutated, shared and differentiated, what each output aliases and how it is
    regenerated, what is copied, saved for the backward and donated, what the backward computes anew, and what each call
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

    Raises:
        DovetailError: for arguments that can't be copied.
        Exception: what `fn` itself raises.
    """
    copies = Copies()
    compiled: list[tuple[ir.Module | Exception, str]] = []

    def backend(gm: torch.fx.GraphModule, example_inputs: Sequence) -> Callable:
        lifted_gm, lifted = lift_attributes(gm)
        inputs = copies.inputs([*lifted, *example_inputs])
        program = compile_graph(lifted_gm, inputs, Options(), lambda outcome: compiled.append((outcome, _end(gm))))
        return lambda *given: program(*copies.inputs([*lifted, *given]))

    original = getattr(fn, "_orig_mod", fn)  # of a compiled module, which would run as it was compiled
    copied, copied_args, copied_kwargs = copies.call(original, args, kwargs)
    # Else the graphs that are compiled here count for the limit of those that the user compiles.
    known = inspect.signature(torch.compile).parameters
    separate: dict[str, Any] = {"isolate_recompiles": True} if "isolate_recompiles" in known else {}
    with warnings.catch_warnings(), torch.random.fork_rng(), torch.set_grad_enabled(torch.is_grad_enabled()):
        warnings.simplefilter("ignore", EagerWarning)
        torch.compile(copied, backend=backend, dynamic=False, **separate)(*copied_args, **copied_kwargs)
    explanation = Explanation(tuple(_graph(outcome, ends) for outcome, ends in compiled))
    print(explanation)
    return explanation


def _graph(outcome: ir.Module | Exception, ends: str) -> Program | Eager:
    if isinstance(outcome, ir.Module):
        return read_program(outcome, ends)
    return Eager(" ".join(str(outcome).split()), ends)


def read_program(module: ir.Module, ends: str = "") -> Program:
    """What `module`, at level `regions`, says; `ends` as in `Program`."""
    origins = Origins(module)
    found_inputs = inputs(origins)
    found_outputs = outputs(origins, [each.name for each in found_inputs])
    modes = [op.opview for op in body(origins.functions["call"]) if isinstance(op.opview, SetGradModeOp)]
    return Program(
        inputs=found_inputs,
        outputs=found_outputs,
        saved=saved(origins, found_inputs),
        recomputed=recomputed(origins),
        regions=regions(origins),
        library_calls=library_calls(origins),
        guard=guard(origins),
        grad_mode=modes[-1].is_enabled if modes else None,
        has_backward="backward" in origins.functions,
        ends=ends,
        ir=str(module),
    )


def _end(gm: torch.fx.GraphModule) -> str:
    """Where and why Dynamo ended a graph before the function's end, "" if it did not."""
    found = getattr(gm, "compile_subgraph_reason", None)
    if found is None or not found.graph_break:
        return ""
    where = f"{Path(found.user_stack[-1].filename).name}:{found.user_stack[-1].lineno}: " if found.user_stack else ""
    return where + found.reason.strip().splitlines()[0]

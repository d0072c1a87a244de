"""From a Dynamo graph to a callable: capture, import, passes, IREE, program."""

import errno
import logging
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import torch
from torch._guards import TracingContext
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch_mlir import ir

from dovetail.accounting import account
from dovetail.backends.compiling import iree_worker
from dovetail.backends.target import target_for_device
from dovetail.build import begun, build
from dovetail.dialects.context import make_context
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.read_once import types_read_once
from dovetail.eager_path import eager_variant, flat, note_eager, warned_of_defect
from dovetail.errors import DovetailError, OptionError, RereadError, UnsupportedError
from dovetail.frontend.capture import GraphBreak, capture
from dovetail.frontend.devices import home_of
from dovetail.frontend.dynamo.default_device import state_default_device
from dovetail.frontend.dynamo.eager_checkpoints import with_checkpoints
from dovetail.frontend.dynamo.graph import fix_sizes, lift_attributes
from dovetail.frontend.dynamo.graph_breaks import may_break
from dovetail.frontend.dynamo.open_sizes import (
    fixed_since,
    makes_numbers,
    open_symbols,
    shape_env,
    takes_fixable_numbers,
)
from dovetail.frontend.observe.transforms import closing_transforms
from dovetail.frontend.records import Capture
from dovetail.frontend.to_ir.importer import import_capture
from dovetail.frontend.unseen import unseen
from dovetail.held_tensors import HeldTensors
from dovetail.options import Options
from dovetail.passes.pipeline import AROUND_REGIONS, regions_pipeline
from dovetail.passes.running.runner import Runner
from dovetail.program_cache import ProgramEntry
from dovetail.room import with_room
from dovetail.runtime.load_plan import Launcher
from dovetail.runtime.program import load_program
from dovetail.runtime.stats import current, timed
from dovetail.runtime.updates import Updates
from dovetail.turns import with_short_turns
from dovetail.variants import Variants, of_these_sizes

log = logging.getLogger("dovetail")


Report = Callable[[ir.Module | Exception], None]
"""Is told of every variant: its module at the last level, or why there is none."""

After = Callable[[object, ir.Module], None]
"""Is told of every pass that ran, and of the module then; first of "input", the captured module."""


@with_room
def compile_graph(
    gm: torch.fx.GraphModule,
    example_inputs: Sequence,
    options: Options,
    report: Report | None = None,
    after: After | None = None,
) -> Callable:
    """Compiles one Dynamo graph; the result takes and returns what the graph does.

    What can't be compiled runs eagerly, with an `EagerWarning` that says why, or a `DefectWarning`.

    Raises:
        DovetailError: with `options.strict`, before anything ran, if the graph can't be honoured.
        OptionError: for a variable of the environment that can't have its value.
    """
    is_open = shape_env(gm) is not None
    state_default_device(gm)
    lifted_gm, lifted = lift_attributes(gm)
    plain = with_checkpoints(gm)

    @closing_transforms()
    def eager(*arguments):
        return flat(plain.forward(*arguments))

    def compile_variant(arguments: Sequence) -> Callable:
        inputs = [*lifted, *arguments]
        try:
            program = _compile(lifted_gm, inputs, options, report, after)
        except (OptionError, GraphBreak):
            raise
        except Exception as error:  # nothing has run yet, so the user's program can go on
            if options.strict:
                raise
            if report is not None:
                report(error)
            if isinstance(error, RereadError) and may_break():
                note_eager(error)
                raise GraphBreak(cast(Any, str(error))) from error
            return eager_variant(eager, arguments, error)
        # After its compilation Dynamo takes no guards: what was compiled then holds for arguments of these sizes.
        if is_open and TracingContext.try_get() is None:
            program = of_these_sizes(program, inputs)
        if not lifted:
            return program
        held = HeldTensors(lifted)
        # Which look at each tensor themselves.
        updates = program if isinstance(program, Updates) else None
        step_by_step = program if updates is None else updates.step_by_step

        def variant(given: list):
            arguments = [*lifted, *given]
            if updates is not None and updates.at_once(arguments):
                return ()
            held.check()
            return step_by_step(arguments)

        return variant

    return Variants(compile_variant, eager, example_inputs, options.strict, lifted).run


@unseen()
def _compile(
    gm: torch.fx.GraphModule, inputs: Sequence, options: Options, report: Report | None, after: After | None
) -> Callable:
    """A program of one list of arguments, for arguments that share memory as `inputs` do."""
    env = shape_env(gm)
    if env is None:
        return _compiled(gm, inputs, None, options, report, after)
    is_fixable = takes_fixable_numbers(gm)  # before a number is asked for, which fixes it
    try:
        return _compiled(gm, inputs, env, options, report, after)
    except (OptionError, GraphBreak, RereadError):
        raise
    except Exception as error:  # sizes that are known are easier; that they are becomes a guard of Dynamo's
        if not is_fixable:
            raise
        reason = str(error).splitlines()[0] if isinstance(error, DovetailError) else f"{type(error).__name__}: {error}"
        warned_of_defect(error, "fixes a graph's sizes to those of one call")
        log.info("sizes are fixed to those of now: %s", reason)
        current().specialised[reason] += 1
        fix_sizes(gm)
        # Numbers that only data tells stay open.
        return _compiled(gm, inputs, env if makes_numbers(gm) else None, options, report, after)


@types_read_once()
def _compiled(
    gm: torch.fx.GraphModule,
    inputs: Sequence,
    env: ShapeEnv | None,
    options: Options,
    report: Report | None,
    after: After | None,
) -> Callable:
    """Like `_compile`, in one way: numbers that are open in `env` stay so, without it none does."""
    runner = Runner(dump=_dump_folder(), after=after)
    with timed("program cache"):
        entry = ProgramEntry(gm, inputs, options, shows_stages=runner.dump is not None or after is not None)
        kept = entry.load()
    module, executables = kept or _made(gm, inputs, env, options, runner)
    device = device_type(module)
    with timed("load"):
        program, sources = load_program(module, executables, options.reduce_overhead and device != "cpu")
    if kept is None:
        with timed("program cache"):
            entry.store(module, executables, runner)
    if runner.dump is not None:
        first = runner.dump / "00_input.mlir"
        (runner.dump / "program.py").write_text("\n\n".join(source.text for source in sources), encoding="utf-8")
        passes = shlex.quote(",".join(runner.ran))
        print(f"every stage: {runner.dump}\nreplay: dovetail-opt {first} --pass-pipeline={passes}", file=sys.stderr)
    if options.reduce_overhead and device == "cpu":
        current().without_effect[f"reduce_overhead: no calls are recorded on {device}"] += 1
    log.debug("compiled program:\n%s", module)
    account(module, current())
    if report is not None:
        report(module)
    return program


def _made(
    gm: torch.fx.GraphModule, inputs: Sequence, env: ShapeEnv | None, options: Options, runner: Runner
) -> tuple[ir.Module, dict]:
    """The final module of a graph, traced and compiled, and what runs its regions."""
    if any(isinstance(value, torch.Tensor) and value.is_cuda for value in inputs):
        with suppress(OSError):  # who asks it is told
            iree_worker.worker.start(edits=True)  # imports while the graph is traced
    opened = open_symbols(env)
    with timed("capture"):
        captured = capture(gm, inputs, env)
    current().traced_anew.update(captured.traced_anew)
    with timed("import"):
        module = imported(captured, inputs, make_context())
    for reason in fixed_since(opened, env):
        log.info("a size is fixed to that of now: %s", reason)
        current().specialised[reason] += 1
    if runner.after is not None:
        runner.after("input", module)
    with timed("passes"):
        runner.run(regions_pipeline(options.partition, options.memory_budget), module)
    return module, _with_regions(module, options, runner)


@with_short_turns
def _with_regions(module: ir.Module, options: Options, runner: Runner) -> dict[str, Launcher]:
    """Takes `module` from where its regions are as they will be compiled to its last level; what runs these."""
    with begun(module, options) as regions:
        with timed("passes"):
            runner.run(AROUND_REGIONS, module, None)
        with timed("regions"):
            return build(module, options, runner, regions)


def imported(captured: Capture, inputs: Sequence, context: ir.Context) -> ir.Module:
    """What was `captured` of a graph with `inputs`, at level `joint`, for the device that it computes on.

    Raises:
        UnsupportedError: for a node, argument, result or device that the IR can't hold, naming it.
    """
    home = home_of(captured.graph, inputs)
    return import_capture(captured, context, _target(home), home)


def _target(home: torch.device) -> str:
    """What the regions of a program for `home` are compiled for, as the module states it."""
    if home.type == "cpu":
        return "cpu"
    major, minor = torch.cuda.get_device_capability(home)
    target = f"{home.type}:sm_{major}{minor}"
    try:
        target_for_device(target)
    except OptionError as error:
        raise UnsupportedError(str(error)) from error
    return target


def _dump_folder() -> Path | None:
    """A new folder under `DOVETAIL_DUMP` for this graph, None if the variable is not set."""
    root = os.environ.get("DOVETAIL_DUMP")
    if not root:
        return None
    try:
        Path(root).mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"graph_{current().graphs:03d}_", dir=root))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise  # the folder is right
        raise OptionError(f"DOVETAIL_DUMP={root}: {error.strerror}; expected a folder that can be written") from error

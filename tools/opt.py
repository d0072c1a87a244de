"""`dovetail-opt`: runs passes on the text of a module, as the compiler does."""

import argparse
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import DovetailError, PassError
from dovetail.passes.base import registry
from dovetail.passes.parse import parse_pipeline
from dovetail.passes.pipeline import PIPELINES, Pipeline
from dovetail.passes.prove_in_place import in_place_remarks
from dovetail.passes.runner import Runner

SEPARATOR = "// -----"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after one message on stderr."""
    options = _parser().parse_args(arguments)
    if options.list_passes:
        print(_listing())
        return 0
    try:
        text = _read(options.input)
        outputs = [_process(chunk, options) for chunk in _chunks(text, options.split_input_file)]
        _write(options.output, f"\n{SEPARATOR}\n".join(outputs))
    except (DovetailError, ir.MLIRError, OSError, UnicodeDecodeError) as error:
        if options.traceback:
            raise
        print(f"dovetail-opt: {_message(error, options.input)}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dovetail-opt", description=__doc__)
    parser.add_argument(
        "input", nargs="?", default="-", metavar="FILE", help="a .mlir file, - for standard input (default)"
    )
    parser.add_argument(
        "-o", dest="output", default="-", metavar="OUT", help="where to write, - for standard output (default)"
    )
    parser.add_argument(
        "--pass-pipeline",
        default="",
        metavar="PIPELINE",
        help="passes in order, e.g. 'partition{algorithm=default},plan-epilogue'",
    )
    parser.add_argument("--list-passes", action="store_true", help="show every pass with its options, and end")
    parser.add_argument(
        "--run-check",
        action="store_true",
        help="run the module on random inputs before and after each pass and compare",
    )
    parser.add_argument(
        "--split-input-file",
        action="store_true",
        help=f"treat the text between '{SEPARATOR}' lines as modules of their own",
    )
    parser.add_argument(
        "--verify-diagnostics", action="store_true", help="print errors as output and go on with the next module"
    )
    parser.add_argument(
        "--remarks", action="store_true", help="say on stderr which writes to arguments are made in place, and why not"
    )
    parser.add_argument("--traceback", action="store_true", help="show where an error came from")
    return parser


def _process(text: str, options: argparse.Namespace) -> str:
    context = make_context()
    try:
        module = parse_module(text, context)
        pipeline = parse_pipeline(options.pass_pipeline, context)
        if options.run_check:
            _run_checked(pipeline, module)
        else:
            Runner().run(pipeline, module)
        if options.remarks:
            print("".join(f"{each}\n" for each in in_place_remarks(module)), end="", file=sys.stderr)
    except (DovetailError, ir.MLIRError) as error:
        if not options.verify_diagnostics:
            raise
        return _message(error, options.input)
    return str(module).rstrip()


def _run_checked(pipeline: Pipeline, module: ir.Module) -> None:
    """Runs `pipeline`; raises PassError if a pass changes what the module's user observes."""
    from dovetail.runtime.reference import random_inputs, run_reference

    inputs = _try("as it is", random_inputs, module)
    before = _try("as it is", run_reference, module, inputs)

    def compare(ran: object, changed: ir.Module) -> None:
        nonlocal before
        after = _try(f"after pass '{ran}'", run_reference, changed, inputs)
        differences = before.differences(after)
        if differences:
            raise PassError(f"pass '{ran}' changed what the module does:\n  " + "\n  ".join(differences))
        before = after

    Runner(after=compare).run(pipeline, module)


def _try(when: str, run: Callable, *arguments: Any) -> Any:
    """Calls `run`; whatever ATen raises is about the module that it was given."""
    try:
        return run(*arguments)
    except Exception as error:
        raise PassError(f"can't run the module {when}: {type(error).__name__}: {error}") from error


def _chunks(text: str, split: bool) -> Iterator[str]:
    """The modules of the input; line numbers in errors stay those of the file."""
    if not split:
        yield text
        return
    lines = 0
    for chunk in re.split(rf"^{SEPARATOR}\n", text, flags=re.MULTILINE):
        yield "\n" * lines + chunk
        lines += chunk.count("\n") + 1


def _read(path: str) -> str:
    return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")


def _write(path: str, text: str) -> None:
    if path == "-":
        print(text)
    else:
        Path(path).write_text(f"{text}\n", encoding="utf-8")


def _message(error: Exception, path: str) -> str:
    """What to tell the user about `error`, met while `path` was read or its module processed."""
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, UnicodeDecodeError):
        return f"{path}: expected UTF-8 text, {error.reason} at byte {error.start}"
    # MLIR calls every text that it parses "-".
    return str(error).rstrip().replace('"-":', f'"{path}":')


def _listing() -> str:
    """Every pass and pipeline with its summary and options."""
    lines = ["Passes:"]
    for name, each in registry().items():
        lines.append(f"  {name:<24} {each.summary()}")
        lines.extend(f"    {option}" for option in each.described_options())
    lines.append("Pipelines:")
    lines.extend(f"  {name:<24} {(make.__doc__ or '').splitlines()[0]}" for name, make in PIPELINES.items())
    lines.append("MLIR's own passes (cse, canonicalize, func.func(...)) are known by their MLIR names.")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

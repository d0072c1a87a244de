"""`dovetail-compile`: compiles a module to an artifact, for `dovetail-run`. docs/commands.md describes it."""

import argparse
import sys
from collections.abc import Mapping
from dataclasses import Field, fields
from pathlib import Path

from torch_mlir import ir

from dovetail.backends.target import TARGETS, target_for_device
from dovetail.build import build
from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import DovetailError, PassError
from dovetail.options import Options
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.runner import Runner
from dovetail.passes.stages import since
from dovetail.runtime.artifact import save_artifact
from dovetail.tools.module_files import error_text, read_source

_DESCRIPTION = "Compiles a module at any level to an artifact, one file that dovetail-run can run."


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after a message on stderr."""
    given = _parser().parse_args(arguments)
    try:
        options = _options({field.name: getattr(given, field.name) for field in fields(Options)})
        module = parse_module(read_source(given.input), make_context())
        runner = Runner()
        lower(module, options, runner)
        executables = build(module, options, given.device, runner)
        save_artifact(Path(given.output), module, executables, target_for_device(given.device))
    except (DovetailError, ir.MLIRError, OSError, UnicodeDecodeError) as error:
        print(f"dovetail-compile: {error_text(error, given.input)}", file=sys.stderr)
        return 1
    return 0


def lower(module: ir.Module, options: Options, runner: Runner) -> None:
    """Takes `module` from the level that it states to level `regions`; raises PassError if it states none."""
    if "dovetail.level" not in module.operation.attributes:
        raise PassError("expected a module with 'dovetail.level', as dovetail-opt and DOVETAIL_DUMP write them")
    level = ir.StringAttr(module.operation.attributes["dovetail.level"]).value
    runner.run(since(compile_pipeline(options.partition, options.memory_budget), level), module)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dovetail-compile", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("input", metavar="MODULE", help="a module as text or bytecode, - for standard input")
    parser.add_argument("-o", dest="output", required=True, metavar="ARTIFACT", help="the file to write")
    parser.add_argument("--device", choices=sorted(TARGETS), default="cpu", help="torch's name of what it will run on")
    group = parser.add_argument_group("options, as in torch.compile(..., options={...})")
    for field in fields(Options):
        group.add_argument(f"--{field.name.replace('_', '-')}", metavar=_kind(field), help=f"default: {field.default}")
    return parser


def _kind(field: Field) -> str:
    return "true|false" if field.type is bool else getattr(field.type, "__name__", str(field.type)).upper()


def _options(given: Mapping[str, str | None]) -> Options:
    """The options with their texts as values; what is no such value is left to `Options.parse` to refuse."""
    types = {field.name: field.type for field in fields(Options)}
    return Options.parse({name: _value(text, types[name]) for name, text in given.items() if text is not None})


def _value(text: str, kind) -> object:
    if kind is bool:
        return {"true": True, "false": False}.get(text, text)
    try:
        return kind(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())

"""`dovetail-compile`: compiles a module to an artifact, for `dovetail-run`. docs/commands.md describes it."""

import argparse
import inspect
import sys
from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path

from torch_mlir import ir

from dovetail.backends.target import TARGETS, target_for_device
from dovetail.build import begun, build
from dovetail.dialects.attributes import LEVEL, TARGET, TF32
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import attribute, drop_attributes
from dovetail.dialects.statements.target import DEFAULT, device_of
from dovetail.errors import DovetailError, OptionError, PassError
from dovetail.options import CHOICES, Options
from dovetail.passes.launches.import_plans import drop_plans
from dovetail.passes.partition.partition import PartitionPass
from dovetail.passes.pipeline import compile_pipeline, since
from dovetail.passes.running.runner import Runner
from dovetail.runtime.artifact import packed
from dovetail.tools import contained
from dovetail.tools.documented_attributes import documented_attributes
from dovetail.tools.module_files import error_text, read_source, writing

_DESCRIPTION = "Compiles a module at any level to an artifact, one file that dovetail-run can run."


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after a message on stderr."""
    given = _parser().parse_args(arguments)
    texts = {field.name: text for field in fields(Options) if (text := getattr(given, field.name)) is not None}
    try:
        options = _options(texts)
        module = parse_module(read_source(given.input), make_context())
        _check_options_act(texts, _level(module))
        if given.target is not None:
            retarget(module, given.target)
        runner = Runner()
        lower(module, options, runner)
        with begun(module, options) as regions:
            executables = build(module, options, runner, regions)
        with writing(given.output):
            path = Path(given.output)
            path.write_bytes(packed(path, module, executables, target_for_device(device_of(module))))
    except (DovetailError, ir.MLIRError, OSError, UnicodeDecodeError) as error:
        print(f"dovetail-compile: {error_text(error, given.input)}", file=sys.stderr)
        return 1
    return 0


def lower(module: ir.Module, options: Options, runner: Runner) -> None:
    """Takes `module` from the level that it states to level `regions`; raises PassError if it states none.

    A module at level `launches` is taken back to it: its plans are of code that is elsewhere.
    """
    if _level(module) == "launches":
        try:
            drop_plans(module)
        except ValueError as error:
            raise PassError(str(error)) from error
    runner.run(since(compile_pipeline(options.partition, options.memory_budget), _level(module)), module)


def retarget(module: ir.Module, target: str) -> None:
    """Has `module` be for `target`, one of `TARGETS`.

    Raises:
        OptionError: if that is no target, or the module is for another one and past the level at which that decides
            nothing yet.
    """
    target_for_device(target)
    if target == device_of(module):
        return
    if _level(module) != PartitionPass.runs_at:
        raise OptionError(
            f"option 'target' acts at level '{PartitionPass.runs_at}', the module is at level '{_level(module)}' for"
            f" '{device_of(module)}'"
        )
    module.operation.attributes[TARGET] = ir.StringAttr.get(target, module.context)
    if target == DEFAULT:
        drop_attributes(module.operation, TF32)


def _level(module: ir.Module) -> str:
    stated = attribute(module.operation, LEVEL)
    if not isinstance(stated, ir.StringAttr):
        raise PassError(f"expected a module with '{LEVEL}', as dovetail-opt and DOVETAIL_DUMP write them")
    return stated.value


def _check_options_act(names: Iterable[str], level: str) -> None:
    """Raises OptionError for an option that nothing is left to ask for: the pipeline's are all for `partition`."""
    for name in names:
        if name in inspect.signature(compile_pipeline).parameters and level != PartitionPass.runs_at:
            raise OptionError(
                f"option '{name}' acts at level '{PartitionPass.runs_at}', the module is at level '{level}'"
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dovetail-compile", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("input", metavar="MODULE", help="a module as text or bytecode, - for standard input")
    parser.add_argument("-o", dest="output", required=True, metavar="ARTIFACT", help="the file to write")
    parser.add_argument(
        "--target",
        metavar="|".join(TARGETS),
        help="what a module at level 'joint' is compiled for; default: what it says itself",
    )
    group = parser.add_argument_group("options, as in torch.compile(..., options={...})")
    meanings = documented_attributes(Options)
    for field in fields(Options):
        default = str(field.default).lower() if field.type is bool else field.default
        meaning = f"{meanings[field.name].removesuffix('.')}; default: {default}"
        group.add_argument(f"--{field.name.replace('_', '-')}", metavar=_kind(field), help=meaning)
    return parser


def _kind(field: Field) -> str:
    if field.type is bool:
        return "true|false"
    return "|".join(CHOICES.get(field.name, (getattr(field.type, "__name__", str(field.type)).upper(),)))


def _options(given: Mapping[str, str]) -> Options:
    """The options with their texts as values; a text that is no number is left to `Options.parse` to refuse."""
    types = {field.name: field.type for field in fields(Options)}
    return Options.parse({name: _value(name, text, types[name]) for name, text in given.items()})


def _value(name: str, text: str, kind) -> object:
    if kind is bool:
        if text not in ("true", "false"):
            raise OptionError(f"option '{name}' expects true or false, got '{text}'")
        return text == "true"
    try:
        return kind(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(contained.compile_())

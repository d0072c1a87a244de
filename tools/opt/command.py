"""`dovetail-opt`: reads modules, runs the pipeline on each, writes what is left."""

import argparse
import io
import re
import sys
from collections.abc import Iterator

from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.memory.memory_use import memory_remarks
from dovetail.errors import DovetailError, PassError
from dovetail.passes.in_place.prove_in_place import in_place_remarks
from dovetail.passes.pipeline import Pipeline, until
from dovetail.passes.running.parse import parse_pipeline
from dovetail.tools.module_files import error_text, printable, read_source, write_output
from dovetail.tools.opt.command_line import SEPARATOR, parse_arguments
from dovetail.tools.opt.diagnostics import differences
from dovetail.tools.opt.instruments import Instruments
from dovetail.tools.opt.listing import listing


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after a message on stderr."""
    options = parse_arguments(arguments)
    try:
        if options.list_passes:
            write_output("-", listing())
            return 0
        pipeline = _pipeline(options)
        instruments = Instruments.of(options, pipeline)
        outputs, complaints = [], []
        for source in _modules(read_source(options.input), options.split_input_file):
            output, found = _process(source, pipeline, instruments, options)
            outputs += output
            complaints += found
        if complaints:
            print(printable("\n".join(complaints)), file=sys.stderr)
            return 1
        # Bytecode of a module that failed as expected: there is none, not even a line's end.
        if outputs or not options.emit_bytecode:
            write_output(options.output, outputs[0] if options.emit_bytecode else f"\n{SEPARATOR}\n".join(outputs))
        instruments.report()
    except (DovetailError, ir.MLIRError, OSError, UnicodeDecodeError) as error:
        if options.traceback:
            raise
        print(f"dovetail-opt: {error_text(error, options.input)}", file=sys.stderr)
        return 1
    return 0


def _pipeline(options: argparse.Namespace) -> Pipeline:
    pipeline = parse_pipeline(options.pipeline, make_context())
    return until(pipeline, options.stop_after) if options.stop_after else pipeline


def _process(
    source: str | bytes, pipeline: Pipeline, instruments: Instruments, options: argparse.Namespace
) -> tuple[list, list[str]]:
    """The output for one module, none if it failed as expected; and how the errors met differ from those expected."""
    errors: list[Exception] = []
    outputs: list[str | bytes] = []
    try:
        module = instruments.timed("(parse)", parse_module, source, make_context())
        instruments.run(pipeline, module)
        if options.remarks:
            print(printable("".join(f"{each}\n" for each in _remarks(module))), end="", file=sys.stderr)
        outputs.append(instruments.timed("(print)", _bytecode if options.emit_bytecode else _text, module))
    except (DovetailError, ir.MLIRError) as error:
        if not options.verify_diagnostics:
            raise
        errors.append(error)
    if not options.verify_diagnostics or isinstance(source, bytes):
        return outputs, []
    return outputs, [f"{options.input}{difference}" for difference in differences(source, errors)]


def _remarks(module: ir.Module) -> list:
    """What there is to say of the module's memory; PassError where it says of itself what can't be."""
    try:
        return [*in_place_remarks(module), *memory_remarks(module)]
    except (LookupError, TypeError, ValueError) as error:
        raise PassError(f"can't remark on the module: {error}") from error


def _text(module: ir.Module) -> str:
    return str(module).rstrip()


def _bytecode(module: ir.Module) -> bytes:
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def _modules(source: str | bytes, split: bool) -> Iterator[str | bytes]:
    """The modules of the input; line numbers in errors stay those of the file."""
    if isinstance(source, bytes) or not split:
        yield source
        return
    lines = 0
    for chunk in re.split(rf"^{SEPARATOR}[ \t\r]*\n", source, flags=re.MULTILINE):
        yield "\n" * lines + chunk
        lines += chunk.count("\n") + 1

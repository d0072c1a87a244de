"""`dovetail-run`: reads an artifact or a module, calls it once, shows what the caller would see."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from torch_mlir import ir

from dovetail.accounting import account
from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import DovetailError, ModuleError
from dovetail.runtime.artifact import load_artifact, load_module
from dovetail.runtime.stats import current
from dovetail.tools.module_files import error_text, is_archive, printable, read_source
from dovetail.tools.permitted_ops import check_permitted
from dovetail.tools.run.call import Call
from dovetail.tools.run.outputs import check_outputs, show

_DESCRIPTION = """\
Calls an artifact of dovetail-compile once, or a module, which is compiled first. Prints the results and the inputs that
the call has changed; what ran where goes to stderr."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit status: 0, or 1 after a message on stderr."""
    options = _parser().parse_args(arguments)
    try:
        module, executables = _loaded(options)
        with _running():
            call = Call.prepare(module, options.input, options.seed, options.gradients)
            check_outputs(options.output, call.entry)
            show(call, call.run(executables, options.seed), options.output)
            if not options.reference:
                account(module, current())
    except (DovetailError, ir.MLIRError, OSError, UnicodeDecodeError) as error:
        print(f"dovetail-run: {error_text(error, options.file)}", file=sys.stderr)
        return 1
    if not options.reference:
        print(printable(str(current())), end="", file=sys.stderr)
    return 0


@contextmanager
def _running() -> Iterator[None]:
    """Around what reads and runs a module; whatever ATen raises is about the module that it was given."""
    try:
        yield
    except (DovetailError, ir.MLIRError, OSError):
        raise
    except Exception as error:
        said = str(error).partition("\nException raised from")[0]  # PyTorch's own frames follow
        raise ModuleError(f"can't run the module: {type(error).__name__}: {said}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="dovetail-run", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("file", metavar="ARTIFACT|MODULE", help="what to run; - is a module on standard input")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="VALUE",
        help="@FILE.npy, SHAPExTYPE=VALUES as in 2x3xf32=1,2,3,4,5,6 (one value fills it), or a number; one for each"
        " input, in order, or none at all for random ones",
    )
    parser.add_argument("--seed", type=int, default=0, help="of random inputs and of what the module draws; default: 0")
    parser.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="@FILE.npy",
        help="where to write a result instead of printing it; one for each, in order",
    )
    parser.add_argument(
        "--gradients", action="store_true", help="also show each input's gradient of the sum of all results"
    )
    parser.add_argument(
        "--reference", action="store_true", help="run the regions op by op through ATen, not their compiled code"
    )
    return parser


def _loaded(options: argparse.Namespace) -> tuple[ir.Module, Mapping[str, Callable]]:
    """The module at level `regions`, and what runs its regions: with `--reference` no code of an artifact is loaded."""
    if is_archive(options.file):
        path = Path(options.file)
        module, executables = (load_module(path), {}) if options.reference else load_artifact(path)
        check_permitted(module)
        return module, executables
    # The compiler, which an artifact runs without.
    from dovetail.build import begun, build
    from dovetail.options import Options
    from dovetail.passes.running.runner import Runner
    from dovetail.tools.compile import lower

    module, runner = parse_module(read_source(options.file), make_context()), Runner()
    check_permitted(module)
    lower(module, Options(), runner)
    if options.reference:
        return module, {}
    with begun(module, Options()) as regions:
        return module, build(module, Options(), runner, regions)

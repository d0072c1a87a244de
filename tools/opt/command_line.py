"""The options of `dovetail-opt`, by the names that users of `mlir-opt` know."""

import argparse
import re
import sys
from functools import partial

from dovetail.passes.base import registry
from dovetail.passes.levels.verify_level import VerifyLevelPass
from dovetail.passes.pipeline import PIPELINES, compile_pipeline
from dovetail.passes.running.parse import MLIR_PASSES
from dovetail.tools.opt.unknown_argument import has_single_dash, refusal

SEPARATOR = "// -----"

_DESCRIPTION = "Runs passes on a module, as the compiler does, and prints the result."
_PASSES = """\
Each pass and pipeline is an option too, and those run in the order given: --drop-redundant-copies --partition, with
options --partition='algorithm=default'. Either such options or --pass-pipeline."""


def parse_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Parses the command line; `pipeline` is the textual pipeline that its passes make.

    A mistake ends the process with status 2 and a message on stderr.
    """
    # argparse would take the word after an option with an optional value for its value, be it the file's name.
    rest, passes = _single_passes(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    # No public way to ask argparse for the names of its options.
    known = [f"--{name}" for name in sorted(_pass_names())] + list(parser._option_string_actions)
    for argument in rest:
        if has_single_dash(argument, known):
            parser.error(refusal(argument, known))
    options, left = parser.parse_known_args(rest)
    if left:
        parser.error(refusal(left[0], known))
    if passes and options.pass_pipeline is not None:
        parser.error(f"either --pass-pipeline or passes as options, got also --{passes[0].partition('{')[0]}")
    if options.emit_bytecode and options.split_input_file:
        parser.error("--emit-bytecode writes one module, which --split-input-file does not leave")
    options.pipeline = ",".join(passes) if options.pass_pipeline is None else options.pass_pipeline
    if options.stop_after and not options.pipeline:
        options.pipeline = "compile"
    return options


def _single_passes(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What is left of the arguments without the passes among them, and these as elements of a pipeline."""
    known = _pass_names()
    rest, passes = [], []
    for argument in arguments:
        match = re.fullmatch(r"--(?P<name>[\w-]+)(=(?P<options>.*))?", argument, re.DOTALL)
        if match is None or match["name"] not in known:
            rest.append(argument)
        else:
            passes.append(f"{match['name']}{{{match['options']}}}" if match["options"] else match["name"])
    return rest, passes


def _pass_names() -> set[str]:
    return {*registry(), *PIPELINES, *MLIR_PASSES}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dovetail-opt", usage="%(prog)s [OPTION ...] [FILE]", description=_DESCRIPTION, allow_abbrev=False
    )
    _add_files(parser.add_argument_group("input and output"))
    _add_passes(parser.add_argument_group("passes", _PASSES))
    _add_checks(parser.add_argument_group("checks"))
    _add_reports(parser.add_argument_group("reports, all on stderr"))
    return parser


def _add_files(group: argparse._ArgumentGroup) -> None:
    flag = partial(group.add_argument, action="store_true")
    group.add_argument(
        "input",
        nargs="?",
        default="-",
        metavar="FILE",
        help="a module as text or bytecode, - for standard input (default)",
    )
    group.add_argument(
        "-o", dest="output", default="-", metavar="OUT", help="where to write, - for standard output (default)"
    )
    flag("--emit-bytecode", help="write bytecode instead of text")
    flag("--split-input-file", help=f"treat the text between '{SEPARATOR}' lines as modules of their own")


def _add_passes(group: argparse._ArgumentGroup) -> None:
    flag = partial(group.add_argument, action="store_true")
    group.add_argument(
        "--pass-pipeline", metavar="PIPELINE", help="passes in order, e.g. 'partition{algorithm=default},plan-epilogue'"
    )
    group.add_argument(
        "--stop-after",
        choices=tuple(step.level for step in compile_pipeline() if isinstance(step, VerifyLevelPass)),
        help="end the pipeline (default: compile) where it has verified that level",
    )
    flag("--list-passes", help="describe every pass with its options, and end")


def _add_checks(group: argparse._ArgumentGroup) -> None:
    flag = partial(group.add_argument, action="store_true")
    flag(
        "--run-check",
        help="run the module on random inputs, twice, before and after each pass and compare; says on stderr how much",
    )
    group.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="of the random inputs of --run-check (default: 0); the second run's is N + 1",
    )
    group.add_argument(
        "--verify-each",
        choices=("true", "false"),
        default="true",
        help="verify the module after each pass (default), or only after the last one",
    )
    flag(
        "--verify-diagnostics",
        help="check errors against the file's 'expected-error {{...}}' comments; only a difference is a failure",
    )


def _add_reports(group: argparse._ArgumentGroup) -> None:
    flag = partial(group.add_argument, action="store_true")
    for when in ("before", "after"):
        group.add_argument(
            f"--mlir-print-ir-{when}",
            action="append",
            default=[],
            metavar="PASS",
            help=f"print the module {when} each run of PASS; may be given again for another pass",
        )
        flag(f"--mlir-print-ir-{when}-all", help=f"print the module {when} each pass")
    flag("--mlir-timing", help="print the seconds that each pass took")
    flag(
        "--remarks",
        help="say which writes to arguments are made in place, and why not, and what memory each function holds",
    )
    flag("--traceback", help="show where an error came from")

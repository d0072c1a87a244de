"""What `dovetail-opt` says of an argument that is neither a file nor an option nor a pass."""

import difflib
import re
from collections.abc import Sequence

from dovetail.dialects.context import make_context
from dovetail.errors import OptionError
from dovetail.passes.running.mlir import MlirPass


def has_single_dash(argument: str, known: Sequence[str]) -> bool:
    """Whether it is one of the options `known`, written with one dash; argparse takes -outline-regions for -o."""
    return argument.startswith("-") and f"-{argument.partition('=')[0]}" in known


def refusal(argument: str, known: Sequence[str]) -> str:
    """The message, with the option of those `known` that may be meant."""
    if not argument.startswith("-"):
        return f"expected one FILE, got also '{argument}'"
    name = re.sub("^-+", "", argument).partition("=")[0]
    if f"--{name}" not in known and _is_mlir_pass(name):
        return f"unknown option '{argument}'; MLIR's pass '{name}' stands in --pass-pipeline={name}"
    close = difflib.get_close_matches(f"--{name}", known, n=1)
    hint = f"did you mean '{close[0]}'?" if close else "see --help, and --list-passes for the passes"
    return f"unknown option '{argument}'; {hint}"


def _is_mlir_pass(name: str) -> bool:
    try:
        MlirPass(name).check(make_context())
    except OptionError:
        return False
    return bool(name)

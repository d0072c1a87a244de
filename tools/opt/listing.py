"""What `dovetail-opt --list-passes` prints."""

import inspect
from textwrap import indent

from dovetail.passes.base import registry
from dovetail.passes.pipeline import PIPELINES
from dovetail.passes.running.parse import MLIR_PASSES


def listing() -> str:
    """Every pass and pipeline with its documentation and its options."""
    entries = ["Passes:"]
    entries += [_entry(name, each.__doc__, each.described_options()) for name, each in registry().items()]
    entries.append("Pipelines:")
    entries += [_entry(name, make.__doc__, _described_options(make)) for name, make in PIPELINES.items()]
    entries.append(
        f"Passes of MLIR's: {', '.join(MLIR_PASSES)}. All others that MLIR has can stand in a --pass-pipeline,\n"
        "as in 'func.func(cse)'."
    )
    return "\n\n".join(entries)


def _entry(name: str, documentation: str | None, options: list[str]) -> str:
    lines = [f"  --{name}", indent(inspect.cleandoc(documentation or ""), "      ")]
    return "\n".join([*lines, *(f"      - {option}" for option in options)])


def _described_options(make) -> list[str]:
    return [f"{each.name}=<str> (default: {each.default})" for each in inspect.signature(make).parameters.values()]

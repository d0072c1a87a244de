"""The rows of the table, in order."""

from dovetail.errors import DovetailError
from dovetail.tools.wrongs import (
    aliased_inputs,
    checks,
    derivatives,
    gradients,
    nested_graphs,
    overlap,
    refused,
    results,
    versions,
    writes,
)
from dovetail.tools.wrongs.case import Case

CASES: tuple[Case, ...] = (
    *overlap.CASES,
    *aliased_inputs.CASES,
    *writes.CASES,
    *versions.CASES,
    *gradients.CASES,
    *derivatives.CASES,
    *nested_graphs.CASES,
    *results.CASES,
    *checks.CASES,
    *refused.CASES,
)

TELLING = (
    "overlap_changes",
    "below_subclasses",
    "shifted_write",
    "copy_then_write",
    "double_backward",
    "old_value_in_backward",
    "compared_with_the_largest",
    "sibling_in_place",
    "custom_view",
    "clone_of_written",
)
"""The rows of the README: the least code that says most of what goes wrong."""


def case(name: str) -> Case:
    """The case of that name.

    Raises:
        DovetailError: if there is none, naming those that exist.
    """
    for each in CASES:
        if each.name == name:
            return each
    raise DovetailError(f"unknown case '{name}', valid are {', '.join(each.name for each in CASES)}")

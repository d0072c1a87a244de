"""Regions that a test compiles, and waits for."""

from typing import Any

from dovetail.backends.compiling.iree import Compilation
from dovetail.backends.compiling.outcomes import Outcome


def compile_regions(*given: Any, **options: Any) -> dict[str, Outcome]:
    """The outcomes of a `Compilation` of these, once all are compiled; raises as that does."""
    return Compilation(*given, **options).outcomes()

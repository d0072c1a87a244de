"""What IREE's host program of a region does, as a record: read by a worker process, kept in the cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from dovetail.backends import plan_reader
from dovetail.backends.flags import COMPILER_PACKAGE

COMPILERS = ("3.13.0",)
"""Versions of IREE whose host programs `read_plans.py` was written for and tested with."""


@dataclass(frozen=True)
class LaunchPlan:
    """How a region is run without IREE's runtime.

    Attributes:
        steps: what `read_plans.py` found, in the form that docs/launch-plans.md describes.
        code: the executable, an ELF shared object, which many regions share.
    """

    steps: dict[str, Any]
    code: bytes


def unreadable_compiler() -> str:
    """Why this compiler's host programs are not read; "" if they are."""
    found = version(COMPILER_PACKAGE)
    return "" if found in COMPILERS else f"plans are read from IREE {', '.join(COMPILERS)}, this is {found}"


def read_plans(text: bytes, entries: Sequence[str], timeout: float) -> dict[str, LaunchPlan | str]:
    """The plan of each function of `text`, a module at IREE's phase `hal`, or why it has none.

    Raises:
        OSError: if the process that reads can't be started or ends, which says nothing of the functions.
    """
    found, rest = plan_reader.reader.read(text, entries, timeout)
    codes: dict[str, bytes] = {}
    for name, size in found["codes"].items():
        codes[name], rest = rest[:size], rest[size:]
    return {
        name: plan["unreadable"] if "unreadable" in plan else LaunchPlan(plan, codes[plan.pop("executable")])
        for name, plan in found["plans"].items()
    }

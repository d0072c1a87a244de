"""What IREE's host program of a region does, as a record: read by a worker process, kept in the cache."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dovetail.backends.target import COMPILER_PACKAGE

COMPILERS = ("3.13.0",)
"""Versions of IREE whose host programs `read_plans.py` was written for and tested with."""

_READER = Path(__file__).with_name("read_plans.py")


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

    Whatever happens to the process that reads is a reason like any other.
    """
    # Isolated from the working directory and this folder, whose names would hide IREE's.
    command = [sys.executable, "-P", str(_READER), *entries]
    try:
        done = subprocess.run(command, input=text, capture_output=True, timeout=timeout, check=False)
    except (subprocess.TimeoutExpired, OSError) as error:
        return dict.fromkeys(entries, f"reading the plan failed: {error}")
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2] or "no message"
        return dict.fromkeys(entries, f"reading the plan failed: exit status {done.returncode}, {last}")
    header, _, rest = done.stdout.partition(b"\n")
    found = json.loads(header)
    codes: dict[str, bytes] = {}
    for name, size in found["codes"].items():
        codes[name], rest = rest[:size], rest[size:]
    return {
        name: plan["unreadable"] if "unreadable" in plan else LaunchPlan(plan, codes[plan.pop("executable")])
        for name, plan in found["plans"].items()
    }

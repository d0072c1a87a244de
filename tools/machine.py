"""What the machine that runs this calls itself: compilers generate other code for others."""

import platform
import re
from pathlib import Path


def processor() -> str:
    """The processor's name where the system says it, else its architecture."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text(encoding="utf-8")) if info.exists() else None
    return platform.machine() if found is None else found[1].strip()

"""All that uses IREE's bindings: it runs in a process of its own, so that what goes wrong there ends no user's process.

Nothing here imports torch, nor what runs in the user's process.
"""

import functools
import hashlib
from pathlib import Path


@functools.cache
def fingerprint() -> str:
    """SHA-256 over the sources here, which decide the code of kernels as the compiler's flags do."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()

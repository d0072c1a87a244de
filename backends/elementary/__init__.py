"""Our own code for elementary functions of float32, in place of IREE's, which is several times less exact than ATen's.

A region says `torch.aten.tanh` until it is handed to IREE: only the text that IREE compiles holds what stands here.
docs/decisions/0033-elementary-functions.md has the errors.
"""

import functools
import hashlib
from pathlib import Path


@functools.cache
def fingerprint() -> str:
    """SHA-256 over the sources here, which decide the code of regions as the compiler's flags do."""
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()

"""Which sources of Dovetail a recorded outcome was had with."""

import hashlib
from functools import cache
from pathlib import Path

import dovetail
from dovetail import backends, dialects, frontend, passes, runtime


@cache
def sources() -> str:
    """A digest of what compiles and runs programs."""
    digest = hashlib.sha256()
    for package in (dovetail, backends, dialects, frontend, passes, runtime):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]

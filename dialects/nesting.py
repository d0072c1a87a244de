"""How deep the brackets of a module's text are nested: MLIR's parser recurses, and reads a type's parts many times."""

import re
from itertools import accumulate

from dovetail.errors import ModuleError

DEEPEST = 500
"""Far more than programs have. At 20,000, a type takes MLIR a minute, and regions are a stack overflow."""

_NO_BRACKETS = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[<>]=')
_STEPS = dict.fromkeys(b"([{<", 1) | dict.fromkeys(b")]}>", -1)
_OTHERS = bytes(set(range(256)).difference(_STEPS))


def check_nesting(text: str) -> None:
    """Raises ModuleError for text whose brackets, those in strings and comments apart, are nested deeper."""
    brackets = _NO_BRACKETS.sub(b"", text.encode("utf-8", "surrogateescape")).translate(None, _OTHERS)
    deepest = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if deepest > DEEPEST:
        raise ModuleError(f"brackets are nested {deepest} deep, expected at most {DEEPEST}")

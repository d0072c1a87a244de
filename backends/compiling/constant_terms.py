"""Finds texts that may reduce terms that are one constant, which `backends/worker/constant_terms.py` then reads."""

import re

_KERNEL = "flow.executable private"
_BODY = re.compile(r"\^bb0\(([^)]*)\):\s*\n(.*?linalg\.yield[^\n]*)", re.DOTALL)
_FILLED = re.compile(r"(%[\w#]+) = linalg\.fill")
_READ = re.compile(r"\bins\(([^:)]*)")
_NAME = re.compile(r"%[\w#]+")


def may_have_constant_terms(text: str) -> bool:
    """Whether a kernel of `text`, of IREE's phase `flow`, reduces, and leaves an operand unread or reads a filled one.

    To read a text as a module takes as long as some passes; few need it.
    """
    return any('"reduction"' in kernel and _has_constants(kernel) for kernel in text.split(_KERNEL))


def _has_constants(kernel: str) -> bool:
    filled = set(_FILLED.findall(kernel))
    if any(not filled.isdisjoint(_NAME.findall(names)) for names in _READ.findall(kernel)):
        return True
    for arguments, body in _BODY.findall(kernel):
        terms = {name for name in _NAME.findall(arguments) if name.startswith("%in")}
        if not terms or not terms.issubset(_NAME.findall(body)):
            return True
    return False

"""Finds texts in which a result may be read by kernels as well, which `backends/worker/early_results.py` then edits."""

import re

_FUNCTION = "util.func public"
_RESULT = re.compile(r"hal\.tensor\.alias [^\n]*=> (%[\w#]+) :")
_RESHAPED = re.compile(r"(%\w+) = flow\.tensor\.reshape (%[\w#]+) :")
_NAME = re.compile(r"%\w+(?:#\d+)?")


def may_read_results(text: str) -> bool:
    """Whether a function of `text`, of IREE's phase `flow`, uses what becomes a result once more.

    To read a text as a module takes as long as some passes.
    """
    return any(map(_uses_again, text.split(_FUNCTION)[1:]))


def _uses_again(function: str) -> bool:
    reshaped = dict(_RESHAPED.findall(function))
    results = {each for name in _RESULT.findall(function) for each in (name, reshaped.get(name, name))}
    met: dict[str, int] = {}
    for name in _NAME.findall(function):
        met[name] = met.get(name, 0) + 1
    # Where one of several is computed, its name is that of all.
    return any(met[name] > (1 if "#" in name else 2) for name in results)

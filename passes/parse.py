"""Textual pipelines: `drop-redundant-copies,partition{algorithm=default},func.func(canonicalize)`.

Our passes, MLIR's, and the named pipelines stand side by side; MLIR's text goes to MLIR as it is.
"""

import difflib
import re

from torch_mlir import ir

from dovetail.errors import OptionError
from dovetail.passes.base import registry
from dovetail.passes.mlir import MlirPass
from dovetail.passes.pipeline import PIPELINES, Pipeline

_ELEMENT = re.compile(r"(?P<name>[\w.-]+)\s*(\{(?P<options>.*)\})?", re.DOTALL)
_NESTED = re.compile(r"(?P<anchor>[\w.-]+)\((?P<inner>.*)\)", re.DOTALL)
ROOT = "builtin.module"


def parse_pipeline(text: str, context: ir.Context) -> Pipeline:
    """Parses a pipeline for a module; `builtin.module(...)` around it is allowed.

    Raises:
        OptionError: for an unknown pass or option, a wrong value, a pass on the wrong op, or unbalanced brackets.
    """
    stripped = text.strip()
    nested = _NESTED.fullmatch(stripped)
    if nested is not None and nested["anchor"] == ROOT and _balanced(nested["inner"]):
        stripped = nested["inner"]
    passes: list = []
    for element in _split(stripped):
        passes.extend(_element(element, context))
    return tuple(passes)


def _element(text: str, context: ir.Context) -> Pipeline:
    nested = _NESTED.fullmatch(text)
    if nested is not None:
        for inner in _split(nested["inner"]):
            name = re.split(r"[{(]", inner)[0].strip()
            if name in registry():
                raise OptionError(f"pass '{name}' runs on '{ROOT}', it can't be nested in '{nested['anchor']}'")
        return (_mlir(text, context),)
    match = _ELEMENT.fullmatch(text)
    if match is None:
        raise OptionError(f"can't read '{text}' in the pipeline; expected name, name{{option=value}} or op(passes)")
    name, options = match["name"], _options(match["options"] or "")
    if name in PIPELINES:
        return _named(name, options)
    if name in registry():
        return (registry()[name].parse(options),)
    return (_mlir(text, context),)


def _named(name: str, options: dict[str, str]) -> Pipeline:
    try:
        return PIPELINES[name](**options)
    except TypeError as error:
        raise OptionError(f"pipeline '{name}': {error}") from error


def _mlir(text: str, context: ir.Context) -> MlirPass:
    made = MlirPass(text)
    try:
        made.check(context)
    except OptionError as error:
        names = [*registry(), *PIPELINES]
        close = difflib.get_close_matches(text, names, n=1)
        hint = f"did you mean '{close[0]}'?" if close else "--list-passes shows those that exist"
        raise OptionError(f"{error}; {hint}") from error
    return made


def _options(text: str) -> dict[str, str]:
    options = {}
    for item in text.split():
        name, equals, value = item.partition("=")
        if not equals:
            raise OptionError(f"can't read pass option '{item}', expected name=value")
        options[name] = value
    return options


def _split(text: str) -> list[str]:
    """Splits at the commas that stand outside of every bracket."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(character, 0)
        if depth < 0:
            raise OptionError(f"unbalanced '{character}' at column {index + 1} of pipeline '{text}'")
        if character == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    if depth:
        raise OptionError(f"missing closing bracket in pipeline '{text}'")
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def _balanced(text: str) -> bool:
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0

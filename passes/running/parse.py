"""Textual pipelines: `drop-redundant-copies,partition{algorithm=default},func.func(canonicalize)`.

Our passes, MLIR's, and the named pipelines stand side by side; MLIR's text goes to MLIR as it is. An option's value
that holds spaces, commas or brackets stands in double quotes, as in JSON.
"""

import difflib
import inspect
import json
import re
from dataclasses import fields

from torch_mlir import ir

from dovetail.errors import OptionError
from dovetail.passes.base import registry, unknown_option, unreadable_option
from dovetail.passes.pipeline import PIPELINES, Pipeline
from dovetail.passes.running.mlir import MlirPass

_ELEMENT = re.compile(r"(?P<name>[\w.-]+)\s*(\{(?P<options>.*)\})?", re.DOTALL)
_NESTED = re.compile(r"(?P<anchor>[\w.-]+)\((?P<inner>.*)\)", re.DOTALL)
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_OPTION = re.compile(rf"(?P<name>[^\s=]+)(=(?P<value>{_QUOTED}|\S*))?\s*")
_UNKNOWN = re.compile(r"'(?P<name>[^']*)' does not refer to a registered pass")
ROOT = "builtin.module"
# Passes of MLIR's that a misspelt name may mean; there is no way to ask MLIR for all.
MLIR_PASSES = ("canonicalize", "cse", "symbol-dce")


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
        _check_nested(nested["anchor"], nested["inner"])
        return (_mlir(text, context),)
    match = _ELEMENT.fullmatch(text)
    if match is None:
        raise OptionError(f"can't read '{text}' in the pipeline; expected name, name{{option=value}} or op(passes)")
    name, options = match["name"], match["options"] or ""
    if name in PIPELINES:
        return _named(name, options)
    if name in registry():
        known = [field.name for field in fields(registry()[name])]
        return (registry()[name].parse(_options(options, f"pass '{name}'", known)),)
    return (_mlir(text, context),)


def _check_nested(anchor: str, text: str) -> None:
    """Only MLIR's passes can run on anything but the module."""
    for element in _split(text):
        deeper = _NESTED.fullmatch(element)
        if deeper is not None:
            _check_nested(deeper["anchor"], deeper["inner"])
            continue
        name = element.partition("{")[0].strip()
        if name in registry() or name in PIPELINES:
            what = "pass" if name in registry() else "pipeline"
            raise OptionError(f"{what} '{name}' runs on the outermost '{ROOT}', it can't be nested in '{anchor}'")


def _named(name: str, text: str) -> Pipeline:
    known = list(inspect.signature(PIPELINES[name]).parameters)
    options = _options(text, f"pipeline '{name}'", known)
    for option in options:
        if option.replace("-", "_") not in known:
            raise unknown_option(f"pipeline '{name}'", option, known)
    return PIPELINES[name](**{option.replace("-", "_"): value for option, value in options.items()})


def _mlir(text: str, context: ir.Context) -> MlirPass:
    made = MlirPass(text)
    try:
        made.check(context)
    except OptionError as error:
        raise OptionError(_refusal(text, " ".join(str(error.__cause__).split()))) from error
    return made


def _refusal(text: str, message: str) -> str:
    """What to tell the user when MLIR, saying `message`, does not take `text`."""
    unknown = _UNKNOWN.search(message)
    if unknown is None:
        return f"MLIR can't read '{text}': {message}"
    name = unknown["name"]
    close = difflib.get_close_matches(name, [*registry(), *PIPELINES, *MLIR_PASSES], n=1)
    where = "" if text == name else f" in '{text}'"
    return f"unknown pass '{name}'{where}; " + (f"did you mean '{close[0]}'?" if close else "see --list-passes")


def _options(text: str, owner: str, known: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for match in _OPTION.finditer(text.strip()):
        name, value = match["name"], match["value"]
        if value is None:
            raise unreadable_option(owner, name, known)
        if name in options:
            raise OptionError(f"{owner}: option '{name}' is given twice, '{options[name]}' and '{value}'")
        options[name] = _unquoted(value)
    return options


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise OptionError(f"can't read the quoted value {text}, expected a string as in JSON") from None


def _masked(text: str) -> str:
    """`text` with its quoted values blotted out, so that brackets and commas in them don't count."""
    return re.sub(_QUOTED, lambda quoted: "_" * len(quoted[0]), text)


def _split(text: str) -> list[str]:
    """Splits at the commas that stand outside of every bracket."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(_masked(text)):
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
    for character in _masked(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth < 0:
            return False
    return depth == 0

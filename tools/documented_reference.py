"""The reference sections of the documents, from docstrings and declarations."""

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from textwrap import dedent
from typing import Any, get_args

import dovetail.frontend
from dovetail import errors
from dovetail.dialects import attributes
from dovetail.dialects.dovetail import Dovetail, RefType, verify
from dovetail.dialects.dovetail.effects import Reads, Writes
from dovetail.frontend.observe.step_facts import refuse_repeated_writes
from dovetail.frontend.observe.untraceable import REFUSALS
from dovetail.options import Options
from dovetail.passes.base import Pass, registry
from dovetail.passes.costs.cost_model import COSTS, CostModel
from dovetail.passes.levels.verify_level import LEVELS
from dovetail.passes.pipeline import PIPELINES
from dovetail.runtime.stats import Stats
from dovetail.tools.documented_attributes import documented_attributes
from dovetail.tools.markdown import table

_EFFECTS = {
    Reads: "reads memory: may be dropped, and merged where no write lies between",
    Writes: "writes memory: never dropped, and no read is merged across it",
    None: "none declared, so it is never dropped, merged or moved",
}


def reference_sections() -> dict[str, str]:
    """Every generated section but those of the walk, by name."""
    return {
        "dialect:types": _ref_type(),
        "dialect:ops": _ops(),
        "dialect:attributes": _attributes(),
        "levels:table": _levels(),
        "passes:list": "\n".join(_pass(each) for each in _own_passes()),
        "passes:pipelines": "\n".join(_pipeline(name) for name in PIPELINES),
        "options:table": _options(),
        "costs:table": _costs(),
        "stats:fields": f"```text\n{_prose(Stats)}\n```\n",
        "errors:list": "".join(f"- `{each.__name__}`: {_prose(each)}\n" for each in _error_classes()),
        "errors:unsupported": "".join(f"- {message}\n" for message in _unsupported()),
    }


def _prose(thing: object) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def _ref_type() -> str:
    return f"### `!{RefType.type_name}`\n\n{_prose(RefType)}\n\nVerified wherever one stands: it is {RefType.SOUND}.\n"


def _ops() -> str:
    listed = sorted(Dovetail.operations, key=lambda op: op.__name__)
    return "\n".join([f"{_prose(verify.VerifiedOp)}\n", *map(_op, listed)])


def _op(op) -> str:
    text, example, _ = re.split(r"^`(.*\"dovetail\..*)`$", _prose(op), maxsplit=1, flags=re.MULTILINE)
    lines = [f"### `{op.OPERATION_NAME}`", "", text.strip(), "", "```mlir", example, "```", ""]
    for field in op._fields:
        kind = type(field).__name__.removesuffix("Def").lower()
        lines.append(f"- {kind} `{field.name}`{_constraint(op.__annotations__[field.name])}")
    effect = next((each for each in (Reads, Writes) if each in op._traits), None)
    lines.append(f"- effects: {_EFFECTS[effect]}")
    lines += [f"- verified: {rule}" for rule in dict.fromkeys(_rules(op))]
    return "\n".join(lines) + "\n"


def _constraint(annotation) -> str:
    """What a field is declared to be, where the declaration says more than that it is there."""
    kind = next(iter(get_args(annotation)), annotation)
    if kind is RefType:
        return f": `!{RefType.type_name}`"
    return "" if kind is Any else f": `{kind.__name__}`"


def _rules(op) -> Iterator[str]:
    """What the verifier checks besides what it does of all ops: its own messages, and first lines of shared rules."""
    tree = ast.parse(dedent(inspect.getsource(op.problem))) if "problem" in vars(op) else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None:
            yield from _rule(node.value)


def _rule(returned: ast.expr) -> Iterator[str]:
    match returned:
        case ast.BoolOp(values=parts):
            for part in parts:
                yield from _rule(part)
        case ast.IfExp(body=kept, orelse=broken):
            yield from _rule(kept)
            yield from _rule(broken)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="verify"), attr=name)):
            yield _prose(getattr(verify, name)).splitlines()[0]
        case ast.JoinedStr() | ast.Constant(value=str()) if _message(returned):
            yield f'"{_message(returned)}"'


def _message(node: ast.AST) -> str:
    """The text of a string or f-string, an ellipsis in place of what is filled in."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in parts)


def _attributes() -> str:
    """What the sentence under each name says, split at its first colon."""
    rows = []
    body = ast.parse(inspect.getsource(attributes)).body
    for named, said in itertools.pairwise(body):
        if isinstance(named, ast.Assign) and isinstance(named.value, ast.Constant) and isinstance(said, ast.Expr):
            where, says = " ".join(ast.literal_eval(said.value).split()).split(": ", 1)
            rows.append((f"`{ast.literal_eval(named.value)}`", where, says.removesuffix(".")))
    return "\n".join(table(("attribute", "on", "says"), rows)) + "\n"


def _levels() -> str:
    rows = []
    for level, functions in LEVELS.items():
        for role, allowed in functions.items():
            rows.append((level, f"`@{role.value}`", " ".join(f"`{op}`" for op in allowed.split())))
            level = ""
    return "\n".join(table(("level", "function", "`dovetail` ops in it"), rows)) + "\n"


def _own_passes() -> list[type[Pass]]:
    """The project's passes: others may be registered too, by tests for instance."""
    return [each for each in registry().values() if each.__module__.startswith("dovetail.passes.")]


def _pass(each: type[Pass]) -> str:
    text, before, rewrite = _prose(each).partition("Before:")
    lines = [f"### `{each.name}`", "", text.strip(), ""]
    if before:
        lines += ["```text", f"{before}{rewrite}".replace("`", ""), "```", ""]
    lines += [f"- option `{option}`" for option in each.described_options()]
    lines.append(f"- alone: `dovetail-opt FILE --pass-pipeline={each.name}`")
    return "\n".join(lines) + "\n"


def _pipeline(name: str) -> str:
    make = PIPELINES[name]
    options = [
        f"- option `{each.name}` (default: {each.default})" for each in inspect.signature(make).parameters.values()
    ]
    steps = "\n".join(map(str, make()))
    return "\n".join([f"### `{name}`", "", _prose(make), "", *options, "", "```text", steps, "```", ""])


def _options() -> str:
    documented = documented_attributes(Options)
    rows = (
        (f"`{each.name}`", getattr(each.type, "__name__", each.type), f"`{each.default!r}`", documented[each.name])
        for each in fields(Options)
    )
    return "\n".join(table(("option", "type", "default", "meaning"), rows)) + "\n"


def _costs() -> str:
    """What each target's cost model holds."""
    documented = documented_attributes(CostModel)
    rows = (
        (f"`{each.name}`", *(f"{getattr(costs, each.name):g}" for costs in COSTS.values()), documented[each.name])
        for each in fields(CostModel)
    )
    return "\n".join(table(("cost", *(f"`{name}`" for name in COSTS), "of"), rows)) + "\n"


def _error_classes() -> list[type]:
    return [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]


def _unsupported() -> list[str]:
    """What the frontend raises `UnsupportedError` for, without repetition and without messages that say nothing."""
    trees = [ast.parse(path.read_text("utf-8")) for path in Path(dovetail.frontend.__file__).parent.rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    found = {_message(call.args[0]) for call in calls if ast.unparse(call.func) in ("UnsupportedError", "RereadError")}
    found |= {f"…: {reason}" for refusal in (*REFUSALS, refuse_repeated_writes) for reason in _reasons(refusal)}
    return sorted(message for message in found if re.search(r"\w", message))


def _reasons(refusal: Callable[..., str]) -> Iterator[str]:
    """The texts that a function returns, be it on a condition."""
    for node in ast.walk(ast.parse(dedent(inspect.getsource(refusal)))):
        if isinstance(node, ast.Return):
            texts = [node.value.body, node.value.orelse] if isinstance(node.value, ast.IfExp) else [node.value]
            yield from (_message(text) for text in texts if text is not None)

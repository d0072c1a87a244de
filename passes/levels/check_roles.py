"""What `verify-level` asks of `dovetail.role`: each function says what it is for, and no two are the one forward."""

from collections.abc import Iterable

from torch_mlir import ir

from dovetail.dialects.attributes import ROLE
from dovetail.dialects.reading import SINGLE, Module, Role, attribute, role
from dovetail.passes.base import fail

_EVERYWHERE = (Role.BORDER, Role.GUARD, Role.REGION, Role.SUBGRAPH, Role.LAYOUTS)


def check_roles(module: Module, allowed: Iterable[Role], level: str, pass_name: str) -> None:
    """Raises PassError for a function that no pass would know, or that has no place at `level`.

    `allowed` are the level's own roles, besides those that every level has.
    """
    expected = [*allowed, *_EVERYWHERE]
    for name, function_op in module.functions.items():
        stated = role(function_op)
        if stated is None:
            got = attribute(function_op, ROLE) or "none"
            raise fail(function_op, pass_name, f"'@{name}' expects '{ROLE}' to be {_words(expected)}, got {got}")
        if stated not in expected:
            message = f"'@{name}' of '{ROLE}' {_words([stated])} has no place at level '{level}'"
            raise fail(function_op, pass_name, f"{message}, expected {_words(expected)}")
    for each in SINGLE:
        for function_op in list(module.of(each).values())[1:]:
            raise fail(function_op, pass_name, f"is a second function of '{ROLE}' {_words([each])}")


def check_present(module: Module, wanted: Role, level: str, op: ir.Operation, pass_name: str) -> None:
    """Raises PassError at `op`, the module, if no function is `wanted`."""
    if wanted not in module:
        raise fail(op, pass_name, f"expects a function of '{ROLE}' {_words([wanted])} at level '{level}'")


def _words(roles: Iterable[Role]) -> str:
    *others, last = [f'"{each.value}"' for each in roles]
    return f"{', '.join(others)} or {last}" if others else last

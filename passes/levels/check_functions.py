"""What `verify-level` asks of functions: that they have a role, can be called, and say what their role needs.

Of a guard, what the runtime compares; of a region, what runs it. No two functions are the one forward.
"""

from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.target import IREE_DRIVERS
from dovetail.dialects.attributes import (
    APART,
    DRIVER,
    GROUP,
    MUTATED,
    NAME,
    OBJECT,
    OFFSET,
    ONLY_UPDATES,
    ROLE,
    ROOT,
    START,
    TRACKED,
)
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import (
    Module,
    Role,
    argument_fact,
    argument_facts,
    attribute,
    role,
    symbol,
)
from dovetail.dialects.statements.subclasses import convention
from dovetail.passes.base import fail
from dovetail.passes.in_place.only_updates import only_updates

SINGLE = (Role.JOINT, Role.CALL, Role.FORWARD, Role.BACKWARD, Role.LAYOUTS)
"""Roles that one function of a module can have."""
_EVERYWHERE = (Role.BORDER, Role.GUARD, Role.REGION, Role.SUBGRAPH, Role.LAYOUTS)


def check_roles(module: Module, allowed: Iterable[Role], level: str) -> None:
    """Raises PassError for a function that no pass would know, or that has no place at `level`.

    `allowed` are the level's own roles, besides those that every level has.
    """
    expected = [*allowed, *_EVERYWHERE]
    for name, function_op in module.functions.items():
        stated = role(function_op)
        if stated is None:
            got = attribute(function_op, ROLE) or "none"
            raise fail(function_op, f"'@{name}' expects '{ROLE}' to be {_words(expected)}, got {got}")
        if stated not in expected:
            message = f"'@{name}' of '{ROLE}' {_words([stated])} has no place at level '{level}'"
            raise fail(function_op, f"{message}, expected {_words(expected)}")
    for each in SINGLE:
        for function_op in list(module.of(each).values())[1:]:
            raise fail(function_op, f"is a second function of '{ROLE}' {_words([each])}")


def check_present(module: Module, wanted: Role, level: str, op: ir.Operation) -> None:
    """Raises PassError at `op`, the module, if no function is `wanted`."""
    if wanted not in module:
        raise fail(op, f"expects a function of '{ROLE}' {_words([wanted])} at level '{level}'")


def _words(roles: Iterable[Role]) -> str:
    *others, last = [f'"{each.value}"' for each in roles]
    return f"{', '.join(others)} or {last}" if others else last


_SHARED = (GROUP, START, ROOT, OBJECT)


def check_signature(function_op: func.FuncOp) -> None:
    """Raises PassError for a function that no caller could call, or that has no body or several blocks."""
    try:
        convention(function_op)
    except ValueError as error:
        raise fail(function_op, str(error)) from error
    name, is_compiled = symbol(function_op), role(function_op) is Role.REGION
    for type_ in dict.fromkeys([*function_op.type.inputs, *function_op.type.results]):
        if not isinstance(type_, RefType):
            continue
        if not type_.is_sound:
            raise fail(function_op, f"'@{name}' expects {RefType.SOUND}, got '{type_}'")
        if is_compiled:
            raise fail(function_op, f"'@{name}' is a region, it expects values and memory, got '{type_}'")
    blocks = len(function_op.body.blocks)
    if blocks != 1 and not (role(function_op) is Role.BORDER or role(function_op) is Role.GUARD):
        raise fail(function_op, f"'@{name}' expects a body of one block, got {blocks} blocks")


def check_guard(guard: func.FuncOp) -> None:
    """Raises PassError for an argument that is no ref, has no name, or of whose memory only a part is said."""
    arguments = guard.type.inputs
    mutated = attribute(guard, MUTATED)
    if not isinstance(mutated, ir.IntegerAttr) or not 0 <= mutated.value <= len(arguments):
        raise fail(guard, f"expects '{MUTATED}' to be 0 to {len(arguments)} of its arguments, got {mutated or 'none'}")
    for index, type_ in enumerate(arguments):
        if not isinstance(type_, RefType) or argument_fact(guard, index, NAME) is None:
            raise fail(guard, f"expects argument {index} to be a ref with a '{NAME}', got '{type_}'")
        for name in (APART, OFFSET):
            number = argument_fact(guard, index, name)
            if number is not None and not isinstance(number, ir.IntegerAttr):
                raise fail(guard, f"expects '{name}' of argument {index} to be a number, got {number}")
        given = [name for name in _SHARED if argument_fact(guard, index, name)]
        if given and len(given) < len(_SHARED):
            expected = f"'{GROUP}', '{START}', '{ROOT}' and '{OBJECT}' together"
            raise fail(guard, f"expects argument {index} to have {expected}, got {', '.join(given)}")
    _check_tracked(guard)


def _check_tracked(guard: func.FuncOp) -> None:
    facts = argument_facts(guard)
    tracked = {(each[GROUP], each[ROOT]) for each in facts if TRACKED in each and GROUP in each}
    for index, each in enumerate(facts):
        if GROUP in each and TRACKED not in each and (each[GROUP], each[ROOT]) in tracked:
            raise fail(guard, f"expects argument {index} to have '{TRACKED}', as another view of its tensor has")


def check_driver(region: func.FuncOp, device: str) -> None:
    """Raises PassError for a region of a CPU without a driver of IREE's, which runs it where it has no launch plan."""
    stated = attribute(region, DRIVER)
    if device != "cpu":
        if stated is not None:
            raise fail(region, f"expects no '{DRIVER}' on a GPU, got {stated}")
    elif not isinstance(stated, ir.StringAttr) or stated.value not in IREE_DRIVERS:
        expected = f"expects '{DRIVER}' to be one of {', '.join(IREE_DRIVERS)}"
        raise fail(region, f"{expected}, got {stated or 'none'}")


def check_updates(found: Module) -> None:
    """Raises PassError where `@call` says that it only updates its arguments, and that is not all."""
    if Role.CALL in found and ONLY_UPDATES in found.call.attributes and not only_updates(found):
        expected = "nothing but a guard, regions that update arguments, and writes in place"
        raise fail(found.call, f"expects {expected}, as '{ONLY_UPDATES}' says")

"""What a library call does besides giving its results, so that it can't be run again, or left out.

`dovetail.effect` says it. Of what takes a branch or runs a loop, nobody looks at what is done inside.
"""

from enum import Enum
from typing import TYPE_CHECKING

from torch_mlir import ir

from dovetail.dialects.attributes import EFFECT
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.reading import attribute
from dovetail.errors import ModuleError

if TYPE_CHECKING:
    import torch


class Effect(Enum):
    """The values are the words of `dovetail.effect`."""

    DRAWS = "draws"  # random numbers, which moves a generator on
    WRITES = "writes"  # memory that it is given, whatever else
    OTHER = "other"  # its results don't tell


_EFFECTS = {each.value: each for each in Effect}


def effect(op: ir.Operation) -> Effect | None:
    """What `op` states.

    Raises:
        ModuleError: for a word that is none of them.
    """
    stated = attribute(op, EFFECT)
    if stated is None:
        return None
    word = stated.value if isinstance(stated, ir.StringAttr) else ""
    if word not in _EFFECTS:
        words = ", ".join(f'"{each}"' for each in _EFFECTS)
        raise ModuleError(f"{op.location}: '{EFFECT}' expects one of {words}, got {stated}")
    return _EFFECTS[word]


def has_effect(op: ir.Operation) -> bool:
    """Whether `op` has an effect, or may have one."""
    return control_flow_name(op) is not None or effect(op) is not None


def effect_of(target: "torch._ops.OpOverload") -> Effect | None:
    """What PyTorch says that `target` does besides giving its results."""
    if target._schema.is_mutable:
        return Effect.WRITES
    if any(tag.name == "nondeterministic_seeded" for tag in target.tags):
        return Effect.DRAWS
    return None if target._schema.returns else Effect.OTHER


def check_effect(op: ir.Operation, target: "torch._ops.OpOverload") -> None:
    """Raises ModuleError if `op`, a call of `target`, does not state what PyTorch says of it."""
    known = effect_of(target)
    if known is not None and effect(op) is not known:
        got = attribute(op, EFFECT) or "none"
        raise ModuleError(f"{op.location}: '{target}' expects '{EFFECT}' to be \"{known.value}\", got {got}")


def state_effect(op: ir.Operation, known: Effect | None) -> None:
    """Has the library call `op` say what it does, if that is anything."""
    if known is not None:
        op.attributes[EFFECT] = ir.StringAttr.get(known.value, op.context)

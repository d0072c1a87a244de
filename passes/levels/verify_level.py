"""Pass `verify-level`: each level's language, checked at its border."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.backends.target import TARGETS
from dovetail.dialects.attributes import LEVEL, TARGET, TF32
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import Module, Role, role
from dovetail.dialects.sizes.size_facts import broken_facts
from dovetail.dialects.statements.target import DEFAULT, device_of, device_type
from dovetail.errors import OptionError
from dovetail.passes.base import Pass, fail
from dovetail.passes.border.check_border import check_border
from dovetail.passes.in_place.verify_in_place import broken_proofs
from dovetail.passes.levels.check_backward_facts import check_backward_facts
from dovetail.passes.levels.check_control_flow import check_control_flow
from dovetail.passes.levels.check_devices import check_devices
from dovetail.passes.levels.check_functions import (
    check_driver,
    check_guard,
    check_present,
    check_roles,
    check_signature,
    check_updates,
)
from dovetail.passes.levels.check_gradients import check_gradients
from dovetail.passes.levels.check_layouts import check_layouts
from dovetail.passes.levels.check_ops import check_attributes, check_ops, check_region_ops, check_written
from dovetail.passes.levels.check_recordable import check_recordable
from dovetail.passes.levels.check_replay import check_replay
from dovetail.passes.levels.check_results import check_results
from dovetail.passes.levels.check_saved_values import check_saved_values
from dovetail.passes.rewriting.own_memory import foreign_memory, handed_out

_CALL = "write touch view detach set_metadata set_grad_mode number"
_MEMORY = "alloc part reuse free"
_IN_SUBGRAPHS = {"program": "copy", "regions": f"copy {_MEMORY}", "launches": f"copy {_MEMORY}"}
_SPLIT = {Role.CALL: _CALL, Role.FORWARD: "read own copy", Role.BACKWARD: "read copy"}
_LOWERED = {
    Role.CALL: _CALL,
    Role.FORWARD: f"read own copy destination {_MEMORY}",
    Role.BACKWARD: f"read copy {_MEMORY}",
}
# Which functions there are at each level, and which of our ops may stand in them; the first one must exist.
LEVELS = {
    "joint": {Role.JOINT: "read write touch own view detach set_metadata set_grad_mode number tangent gradient"},
    "split": _SPLIT,
    "program": _SPLIT,
    "regions": _LOWERED,
    "launches": _LOWERED,
}


class VerifyLevelPass(Pass, name="verify-level"):
    """Checks that the module speaks the language of `level`: which functions there are, and which ops stand in them.

    Also that both sides of the border to autograd agree. Changes nothing.
    """

    level: str = "joint"

    def __post_init__(self):
        if self.level not in LEVELS:
            valid = ", ".join(f"'{level}'" for level in LEVELS)
            raise OptionError(f"pass 'verify-level': option 'level' expects one of {valid}, got '{self.level}'")

    def run(self, module: ir.Module) -> bool:
        self._check_stated(module)
        found, allowed = Module(module), LEVELS[self.level]
        is_launched = self.level == "launches"  # verify-launches knows what may stand in a plan
        check_roles(found, [*allowed, Role.PLAN] if is_launched else allowed, self.level)
        for name, function_op in found.functions.items():
            check_signature(function_op)
            match role(function_op):
                case Role.BORDER:
                    check_border(function_op, found)
                    check_saved_values(function_op, found, self.level != "split")
                    if allowed is _LOWERED:
                        check_replay(function_op, found)
                case Role.GUARD:
                    check_guard(function_op)
                case Role.REGION:
                    check_region_ops(found.bodies[name], device_type(module))
                    if allowed is _LOWERED:
                        check_driver(function_op, device_type(module))
                case Role.SUBGRAPH:
                    self._check_host(name, found.bodies[name], _IN_SUBGRAPHS.get(self.level, ""))
                case stated if stated in allowed:
                    self._check_host(name, found.bodies[name], allowed[stated])
        check_control_flow(module, found)
        check_attributes(found)
        check_layouts(found)
        check_gradients(found)
        check_devices(module, found, device_of(module))
        check_backward_facts(found)
        for op, broken_fact in broken_facts(found):
            raise fail(op, broken_fact)
        check_present(found, next(iter(allowed)), self.level, module.operation)
        broken = next(broken_proofs(found), None) if allowed is _LOWERED else None
        if broken is not None:
            raise fail(broken[0], broken[1])
        check_updates(found)
        check_results(found, self.level != "split")
        if allowed is _LOWERED:
            check_recordable(found)
        if self.level in ("program", "regions", "launches"):
            _check_own_memory(found)
        return False

    def _check_stated(self, module: ir.Module) -> None:
        attributes = module.operation.attributes
        stated = str(attributes[LEVEL]) if LEVEL in attributes else "none"
        if stated != f'"{self.level}"':
            raise fail(module.operation, f"expects '{LEVEL}' to be \"{self.level}\", got {stated}")
        target = attributes[TARGET] if TARGET in attributes else ir.StringAttr.get(DEFAULT, module.context)
        if not isinstance(target, ir.StringAttr) or target.value not in TARGETS:
            expected = " or ".join(f'"{each}"' for each in TARGETS)
            raise fail(module.operation, f"expects '{TARGET}' to be {expected}, got {target}")
        if TF32 in attributes and (not isinstance(attributes[TF32], ir.UnitAttr) or target.value == DEFAULT):
            raise fail(module.operation, f"expects '{TF32}' to be a unit of a module for a GPU, got {attributes[TF32]}")

    def _check_host(self, name: str, ops: Sequence[ir.Operation], ours: str) -> None:
        check_ops(name, ops, {f"dovetail.{op}" for op in ours.split()}, self.level)
        check_written(ops)


def _check_own_memory(module: Module) -> None:
    """Raises PassError for an owned result or a gradient that shares its memory.

    Asked from level `program` on: before, only values are said, and `plan-epilogue` puts a copy where one is needed.
    """
    for each in handed_out(module):
        shared = foreign_memory(each.op.operands[each.index], each.taken)
        if shared:
            own = f"memory of its own, such as a '{CopyOp.OPERATION_NAME}'"
            raise fail(each.op, f"expects {each.what} in {own}, got {shared}")

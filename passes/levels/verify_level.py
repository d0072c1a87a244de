"""Pass `verify-level`: each level's language, checked at its border."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import LEVEL
from dovetail.dialects.calls import is_border, is_guard, is_region
from dovetail.dialects.control_flow import is_subgraph
from dovetail.dialects.plans import is_plan
from dovetail.errors import OptionError
from dovetail.passes.base import Pass, fail
from dovetail.passes.in_place.verify_in_place import broken_proofs
from dovetail.passes.levels.check_backward_facts import check_backward_facts
from dovetail.passes.levels.check_border import check_border
from dovetail.passes.levels.check_control_flow import check_control_flow
from dovetail.passes.levels.check_guard import check_guard
from dovetail.passes.levels.check_ops import check_ops, check_region_ops
from dovetail.passes.levels.check_own_memory import check_own_memory
from dovetail.passes.levels.check_recompute import check_recompute
from dovetail.passes.levels.check_saved_values import check_saved_values
from dovetail.passes.levels.check_signature import check_signature
from dovetail.passes.levels.check_strides import check_strides
from dovetail.passes.rewriting.cloning import bodies, functions

_CALL = "write touch view detach set_metadata set_grad_mode"
_MEMORY = "alloc reuse free"
_IN_SUBGRAPHS = {"program": "copy", "regions": f"copy {_MEMORY}", "launches": f"copy {_MEMORY}"}
_LOWERED = {"call": _CALL, "forward": f"read own copy destination {_MEMORY}", "backward": f"read copy {_MEMORY}"}
# Which functions there are at each level, and which of our ops may stand in them; the first one must exist.
LEVELS = {
    "joint": {"joint": "read write touch own view detach set_metadata set_grad_mode tangent gradient"},
    "split": {"call": _CALL, "forward": "read own copy", "backward": "read copy"},
    "program": {"call": _CALL, "forward": "read own copy", "backward": "read copy"},
    "regions": _LOWERED,
    "launches": _LOWERED,
}


@dataclass(frozen=True)
class VerifyLevelPass(Pass, name="verify-level"):
    """Checks that the module speaks the language of `level`: which functions there are, and which ops stand in them.

    Also that both sides of the border to autograd agree. Changes nothing.
    """

    level: str = "joint"

    def __post_init__(self):
        if self.level not in LEVELS:
            valid = ", ".join(f"'{level}'" for level in LEVELS)
            raise OptionError(f"pass 'verify-level': option 'level' expects one of {valid}, got '{self.level}'")

    def run(self, module: ir.Module) -> None:
        self._check_stated(module)
        found = functions(module)
        ops = bodies(found)  # walked once, for all checks
        for name, function_op in found.items():
            check_signature(function_op, self.name)
            if is_border(function_op):
                check_border(function_op, found, self.name)
                check_saved_values(function_op, found, self.level != "split", self.name)
            elif is_guard(function_op):
                check_guard(function_op, self.name)
            elif is_region(function_op):
                check_region_ops(ops[name], self.name)
            elif is_plan(function_op) and self.level == "launches":
                continue  # verify-launches knows what may stand there
            else:
                self._check_host(name, function_op, ops[name])
        check_control_flow(module, found, ops, self.name)
        check_recompute(ops, self.name)
        check_strides(ops, self.name)
        check_backward_facts(found, ops, self.name)
        first = next(iter(LEVELS[self.level]))
        if first not in found:
            raise fail(module.operation, self.name, f"expects a function '@{first}' at level '{self.level}'")
        for op, rule in broken_proofs(found, ops) if LEVELS[self.level] is _LOWERED else ():
            raise fail(op, self.name, rule)
        if self.level in ("program", "regions", "launches"):
            check_own_memory(found, ops, self.name)

    def _check_stated(self, module: ir.Module) -> None:
        attributes = module.operation.attributes
        stated = str(attributes[LEVEL]) if LEVEL in attributes else "none"
        if stated != f'"{self.level}"':
            raise fail(module.operation, self.name, f"expects '{LEVEL}' to be \"{self.level}\", got {stated}")

    def _check_host(self, name: str, function_op: func.FuncOp, ops: Sequence[ir.Operation]) -> None:
        allowed = LEVELS[self.level]
        if is_subgraph(function_op):
            ours = _IN_SUBGRAPHS.get(self.level, "")
        elif name in allowed:
            ours = allowed[name]
        else:
            expected = ", ".join(f"@{each}" for each in allowed)
            raise fail(function_op, self.name, f"'@{name}' has no place at level '{self.level}', expected {expected}")
        check_ops(name, ops, {f"dovetail.{op}" for op in ours.split()}, self.level, self.name)

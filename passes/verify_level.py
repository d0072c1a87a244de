"""Pass `verify-level`: each level's language, checked at its border."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import (
    BACKWARD,
    FORWARD,
    GROUP,
    MUTATED,
    OBJECT,
    ROOT,
    START,
    is_border,
    is_extern,
    is_guard,
    is_region,
    referred,
)
from dovetail.dialects.control_flow import is_subgraph
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.subclasses import convention
from dovetail.dialects.torch_ops import Kind, kind
from dovetail.errors import OptionError
from dovetail.passes.base import Pass, fail
from dovetail.passes.check_control_flow import check_control_flow
from dovetail.passes.check_recompute import check_recompute
from dovetail.passes.check_watched import check_watched
from dovetail.passes.rewriting import FROM_PYTHON, functions, has_argument_attribute
from dovetail.passes.verify_in_place import broken_proofs

_CALL = "write touch view detach set_metadata set_grad_mode"
# Which functions there are at each level, and which of our ops may stand in them; the first one must exist.
LEVELS = {
    "joint": {"joint": "read write touch own view detach set_metadata set_grad_mode tangent gradient"},
    "split": {"call": _CALL, "forward": "read own", "backward": "read"},
    "program": {"call": _CALL, "forward": "read own", "backward": "read"},
    "regions": {"call": _CALL, "forward": "read own alloc destination", "backward": "read alloc"},
}
_DIALECTS = ("dovetail", "torch", "func")
# From here on the host computes nothing itself: it calls, and makes views.
HOST_LEVELS = ("program", "regions")


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
        found, allowed = functions(module), LEVELS[self.level]
        for name, function_op in found.items():
            self._check_signature(name, function_op)
            if is_border(function_op):
                self._check_border(function_op, found)
            elif is_guard(function_op):
                self._check_guard(function_op)
            elif is_region(function_op):
                self._check_region(function_op)
            elif is_subgraph(function_op):
                self._check_ops(name, function_op, {"dovetail.alloc"} if self.level == "regions" else set())
            elif name in allowed:
                self._check_ops(name, function_op, {f"dovetail.{op}" for op in allowed[name].split()})
            else:
                expected = ", ".join(f"@{each}" for each in allowed)
                raise fail(
                    function_op, self.name, f"'@{name}' has no place at level '{self.level}', expected {expected}"
                )
        check_control_flow(module, self.name)
        check_recompute(module, self.name)
        check_watched(module, self.name)
        first = next(iter(allowed))
        if first not in found:
            raise fail(module.operation, self.name, f"expects a function '@{first}' at level '{self.level}'")
        for op, rule in broken_proofs(module) if self.level == "regions" else ():
            raise fail(op, self.name, rule)

    def _check_stated(self, module: ir.Module) -> None:
        attributes = module.operation.attributes
        stated = str(attributes["dovetail.level"]) if "dovetail.level" in attributes else "none"
        if stated != f'"{self.level}"':
            raise fail(module.operation, self.name, f"expects 'dovetail.level' to be \"{self.level}\", got {stated}")

    def _check_signature(self, name: str, function_op: func.FuncOp) -> None:
        try:
            convention(function_op)
        except ValueError as error:
            raise fail(function_op, self.name, str(error)) from error
        for type_ in [*function_op.type.inputs, *function_op.type.results]:
            if isinstance(type_, RefType) and not type_.is_sound:
                raise fail(function_op, self.name, f"'@{name}' expects {RefType.SOUND}, got '{type_}'")
            if isinstance(type_, RefType) and is_region(function_op):
                raise fail(
                    function_op, self.name, f"'@{name}' is a region, it expects values and memory, got '{type_}'"
                )
        if not (is_border(function_op) or is_guard(function_op)) and len(function_op.body.blocks) != 1:
            blocks = len(function_op.body.blocks)
            raise fail(function_op, self.name, f"'@{name}' expects a body of one block, got {blocks} blocks")

    def _check_ops(self, name: str, function_op: func.FuncOp, allowed: set[str]) -> None:
        for op in _operations(function_op):
            if op.name.split(".")[0] not in _DIALECTS:
                raise fail(op, self.name, f"has no place in '@{name}', expected an op of {', '.join(_DIALECTS)}")
            if op.name.startswith("dovetail.") and op.name not in allowed:
                raise fail(op, self.name, f"has no place in '@{name}' at level '{self.level}'")
            if self.level in HOST_LEVELS and _computes(op):
                raise fail(op, self.name, f"computes in '@{name}' at level '{self.level}', expected a call or a view")

    def _check_region(self, function_op: func.FuncOp) -> None:
        for op in _operations(function_op):
            if op.name.startswith("dovetail.") or is_extern(op):
                raise fail(op, self.name, "has no place in a region, which IREE compiles")

    def _check_guard(self, guard: func.FuncOp) -> None:
        arguments, mutated = guard.type.inputs, guard.attributes[MUTATED]
        if not isinstance(mutated, ir.IntegerAttr) or not 0 <= mutated.value <= len(arguments):
            raise fail(
                guard, self.name, f"expects '{MUTATED}' to be 0 to {len(arguments)} of its arguments, got {mutated}"
            )
        for index, type_ in enumerate(arguments):
            if not isinstance(type_, RefType) or not has_argument_attribute(guard, index, "dovetail.name"):
                raise fail(
                    guard, self.name, f"expects argument {index} to be a ref with a 'dovetail.name', got '{type_}'"
                )
            given = [name for name in (GROUP, START, ROOT, OBJECT) if _fact(guard, "arg_attrs", index, name)]
            if given and len(given) < 4:
                expected = f"'{GROUP}', '{START}', '{ROOT}' and '{OBJECT}' together"
                raise fail(guard, self.name, f"expects argument {index} to have {expected}, got {', '.join(given)}")

    def _check_saved(self, border: func.FuncOp, forward: func.FuncOp, backward: func.FuncOp) -> None:
        owned, arguments = len(border.type.results), len(backward.type.inputs)
        saved = len(forward.type.results) - owned
        for index in range(owned, owned + saved):
            check = _fact(forward, "res_attrs", index, "dovetail.saved")
            if str(check) not in ('"checked"', '"private"'):
                expected = f'expects result {index} to have \'dovetail.saved\', "checked" or "private"'
                raise fail(forward, self.name, f"{expected}, got {check or 'none'}")
        for index in range(saved, arguments):
            tied = _fact(backward, "arg_attrs", index, "dovetail.tangent_of")
            if not isinstance(tied, ir.IntegerAttr) or not 0 <= tied.value < owned:
                expected = f"expects argument {index} to have 'dovetail.tangent_of', one of the {owned} results"
                raise fail(backward, self.name, f"{expected}, got {tied or 'none'}")

    def _check_border(self, border: func.FuncOp, found: dict[str, func.FuncOp]) -> None:
        for attribute in (FORWARD, BACKWARD):
            if attribute not in border.attributes:
                raise fail(border, self.name, f"expects '{FORWARD}' and '{BACKWARD}', got no '{attribute}'")
            if referred(border, attribute) not in found:
                raise fail(border, self.name, f"refers to '@{referred(border, attribute)}', which is not defined")
        forward, backward = found[referred(border, FORWARD)].type, found[referred(border, BACKWARD)].type
        owned = list(border.type.results)
        if list(forward.inputs) != list(border.type.inputs) or list(forward.results)[: len(owned)] != owned:
            raise fail(border, self.name, f"expects its forward to take and return first what it does, got {forward}")
        saved = list(forward.results)[len(owned) :]
        if list(backward.inputs)[: len(saved)] != saved or len(backward.results) != len(border.type.inputs):
            expected = f"the {len(saved)} saved values first and return {len(border.type.inputs)} gradients"
            raise fail(border, self.name, f"expects its backward to take {expected}, got {backward}")
        self._check_saved(border, found[referred(border, FORWARD)], found[referred(border, BACKWARD)])


def _fact(function_op: func.FuncOp, where: str, index: int, name: str) -> ir.Attribute | None:
    """What a function says of its argument or result `index`."""
    if where not in function_op.attributes:
        return None
    facts = ir.DictAttr(ir.ArrayAttr(function_op.attributes[where])[index])
    return facts[name] if name in facts else None  # noqa: SIM401 (not a Python dict)


def _computes(op: ir.Operation) -> bool:
    if not op.name.startswith("torch.") or op.name in (*FROM_PYTHON, "torch.copy.to_vtensor") or is_extern(op):
        return False
    return kind(op) not in (Kind.VIEW, Kind.CONSTANT)


def _operations(function_op: func.FuncOp) -> Iterator[ir.Operation]:
    return (op.operation for op in function_op.body.blocks[0].operations)

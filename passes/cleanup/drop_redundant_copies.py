"""Pass `drop-redundant-copies`: what functionalization left behind."""

from torch_mlir import ir

from dovetail.dialects.memory.roots import memory_path
from dovetail.dialects.reading import made_by
from dovetail.dialects.statements.devices import named_device
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.rows import OPS
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import as_large, cast, is_none
from dovetail.passes.rewriting.rules import apply_rules

_CAST = "torch.aten._to_copy"
# Casts to the right of these keep every value.
_WIDER = {
    "float16": ("float32", "float64"),
    "bfloat16": ("float32", "float64"),
    "float32": ("float64",),
    "int8": ("int16", "int32", "int64"),
    "uint8": ("int16", "int32", "int64"),
    "int16": ("int32", "int64"),
    "int32": ("int64",),
}


class DropRedundantCopiesPass(Pass, name="drop-redundant-copies", runs_at="joint"):
    """Forwards the operand of copies, and of casts that give back what was there.

    Values are immutable, so a copy of one is that one; memory of its own is what `own` and `write` give. `copy(a, b)`
    is `b`, expanded where `a` is larger. A cast to a wider type and back is no cast: f32 to f64 to f32, but not f32 to
    bf16 to f32, which rounds. Casts don't name the device that their operand lies on, as those of autocast's backward
    do. A copy of what is conjugated or negated as it is read stays, since it is so no longer.

    Before:  `%1 = torch.aten.clone %0, %none; %2 = torch.aten.mul.Tensor %1, %1`
    After:   `%2 = torch.aten.mul.Tensor %0, %0`
    """

    def run(self, module: ir.Module) -> bool:
        copies = {f"torch.aten.{each.name}": _operand for each in OPS if each.is_identity}
        return apply_rules(module, copies | {"torch.aten.copy": _copied, _CAST: _cast}, takes_open=True)


def _operand(op: ir.Operation) -> ir.Value | None:
    is_lazy = any(row(each).is_lazy for each in memory_path(op.operands[0]))
    return op.operands[0] if op.operands[0].type == op.results[0].type and not is_lazy else None


def _copied(op: ir.Operation) -> ir.Value | None:
    return as_large(op.operands[1], op.results[0])


def _cast(op: ir.Operation) -> ir.Value | None:
    source, result = op.operands[0], op.results[0]
    if source.type == result.type:
        return source
    inner = made_by(source, _CAST)
    if named_device(op.operands[3]) and is_none(op.operands[6]):
        return cast(source, require_shaped_info(result.type).dtype)
    if inner is None or inner.operands[0].type != result.type:
        return None
    narrow, wide = shaped_info(result.type), shaped_info(source.type)
    if narrow is None or wide is None or wide.dtype not in _WIDER.get(narrow.dtype, ()):
        return None
    return inner.operands[0]

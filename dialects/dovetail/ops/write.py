"""`dovetail.write`: value to memory."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.effects import Writes
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of

MODES = ("tracked", "no_grad", "hidden")


class WriteOp(VerifiedOp, name="write", traits=[Writes]):
    """Stores `value` into `ref`'s memory, as the in-place op that the user wrote would.

    `mode` says what autograd sees of it: `tracked` (gradients flow through the copy), `no_grad` (the user wrote under
    `torch.no_grad`, the version counter moves), `hidden` (the user wrote through `.data`: it stays). `versions` says by
    how much the counter moves where that is not 1: the user called several in-place ops.
    `"dovetail.write"(%0, %x) {mode = "tracked"} : (!torch.vtensor<[4],f32>, !dovetail.ref<...>) -> ()`
    """

    value: Operand[Any]
    ref: Operand[RefType]
    mode: ir.StringAttr
    optional = ("versions",)
    mode_name = value_of("mode")
    _versions = value_of("versions", 1)

    def problem(self) -> str:
        if self.mode_name == "hidden" and "versions" in self.attributes:
            return f"expects no 'versions' in mode 'hidden', got {self.attributes['versions']}"
        return (
            verify.none_of(self, "mode", MODES)
            or verify.another_tensor(self.value, self.ref)
            or verify.no_count(self, "versions", 1)
        )

    @property
    def version_count(self) -> int:
        """By how much the version counter moves."""
        return 0 if self.mode_name == "hidden" else self._versions


def write(value, ref, mode: str, versions: int = 1) -> WriteOp:
    """Builds a write of `value` into `ref`; `mode` is one of `MODES`, `versions` as `WriteOp` says."""
    made = WriteOp(value, ref, ir.StringAttr.get(mode))
    if versions > 1:
        made.attributes["versions"] = i64(versions)
    return made

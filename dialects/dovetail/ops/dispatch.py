"""`dovetail.dispatch`: one launch of compiled code."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create, i64_array
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class DispatchOp(VerifiedOp, name="dispatch"):
    """Runs `entry` of the plan's code once for each workgroup, in any order and at the same time.

    `workgroups` counts them in x, y and z; `constants` are 32-bit numbers, `bindings` the memory that it may read
    and write. What only a barrier orders may overlap with launches before and after it.
    `"dovetail.dispatch"(%a, %b) {constants = [], entry = "add", workgroups = [8, 1, 1]} : (...) -> ()`
    """

    bindings: Sequence[Operand[BufferType]]
    entry: ir.StringAttr
    workgroups: ir.ArrayAttr
    constants: ir.ArrayAttr

    def problem(self) -> str:
        if len(ir.ArrayAttr(self.workgroups)) != 3:
            return f"expects 'workgroups' to count x, y and z, got {self.workgroups}"
        return verify.no_integers(self, "workgroups") or verify.no_integers(self, "constants")

    @property
    def entry_name(self) -> str:
        return ir.StringAttr(self.entry).value

    @property
    def counts(self) -> tuple[int, ...]:
        """Workgroups in x, y and z."""
        return tuple(ir.IntegerAttr(each).value for each in ir.ArrayAttr(self.workgroups))

    @property
    def words(self) -> tuple[int, ...]:
        """The constants."""
        return tuple(ir.IntegerAttr(each).value for each in ir.ArrayAttr(self.constants))


def dispatch(entry: str, workgroups: Sequence[int], constants: Sequence[int], bindings: Sequence) -> DispatchOp:
    """Builds a launch of `entry` on `bindings`, each the result of a `dovetail.subspan`."""
    attributes = {
        "entry": ir.StringAttr.get(entry),
        "workgroups": i64_array(workgroups),
        "constants": i64_array(constants),
    }
    return create(DispatchOp, bindings, attributes, [])

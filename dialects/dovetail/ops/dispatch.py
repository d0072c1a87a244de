"""`dovetail.dispatch`: one launch of compiled code."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create, i64, i64_array
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class DispatchOp(VerifiedOp, name="dispatch"):
    """Runs `entry` of the plan's code once for each workgroup, in any order and at the same time.

    `workgroups` counts them in x, y and z; `constants` are 32-bit numbers, `bindings` the memory that it may read
    and write. What only a barrier orders may overlap with launches before and after it. On a GPU, `workgroup_size`
    counts the threads of a workgroup in x, y and z, and `shared_memory` the bytes that they share, besides those that
    the code declares by itself.
    `"dovetail.dispatch"(%a, %b) {constants = [], entry = "add", workgroups = [8, 1, 1]} : (...) -> ()`
    """

    bindings: Sequence[Operand[BufferType]]
    entry: ir.StringAttr
    workgroups: ir.ArrayAttr
    constants: ir.ArrayAttr
    optional = ("workgroup_size", "shared_memory")

    def problem(self) -> str:
        if len(ir.ArrayAttr(self.workgroups)) != 3:
            return f"expects 'workgroups' to count x, y and z, got {self.workgroups}"
        return (
            verify.no_integers(self, "workgroups")
            or verify.no_integers(self, "constants")
            or self.no_size()
            or verify.no_count(self, "shared_memory")
        )

    def no_size(self) -> str:
        """What is wrong with the threads of a workgroup."""
        size = self.attributes.get("workgroup_size", None)
        if ("shared_memory" in self.attributes) != (size is not None):
            return "expects 'workgroup_size' and 'shared_memory' together"
        if size is None:
            return ""
        if not isinstance(size, ir.ArrayAttr) or len(size) != 3:
            return f"expects 'workgroup_size' to count x, y and z, got {size}"
        return verify.no_integers(self, "workgroup_size")

    @property
    def memory(self) -> tuple[ir.Value, ...]:
        """The bindings."""
        return tuple(self.operands)

    @property
    def entry_name(self) -> str:
        return ir.StringAttr(self.entry).value

    @property
    def counts(self) -> tuple[int, ...]:
        """Workgroups in x, y and z."""
        return _numbers(self.workgroups)

    @property
    def words(self) -> tuple[int, ...]:
        """The constants."""
        return _numbers(self.constants)

    @property
    def threads(self) -> tuple[int, ...]:
        """Threads of a workgroup in x, y and z; () where that is for the code to know."""
        return _numbers(self.attributes["workgroup_size"]) if "workgroup_size" in self.attributes else ()

    @property
    def shared_bytes(self) -> int:
        """Bytes that the threads of a workgroup share, besides those that the code declares."""
        return ir.IntegerAttr(self.attributes["shared_memory"]).value if "shared_memory" in self.attributes else 0


def dispatch(
    entry: str,
    workgroups: Sequence[int],
    constants: Sequence[int],
    bindings: Sequence,
    workgroup_size: Sequence[int] = (),
    shared_memory: int = 0,
) -> DispatchOp:
    """Builds a launch of `entry` on `bindings`, each the result of a `dovetail.subspan`."""
    numbers = {"workgroups": i64_array(workgroups), "constants": i64_array(constants)}
    return create(DispatchOp, bindings, launch_attributes(entry, workgroup_size, shared_memory) | numbers, [])


def launch_attributes(entry: str, workgroup_size: Sequence[int], shared_memory: int) -> dict[str, ir.Attribute]:
    """What a launch states besides the numbers of its grid."""
    attributes: dict[str, ir.Attribute] = {"entry": ir.StringAttr.get(entry)}
    if workgroup_size:
        attributes |= {"workgroup_size": i64_array(workgroup_size), "shared_memory": i64(shared_memory)}
    return attributes


def _numbers(array: ir.Attribute) -> tuple[int, ...]:
    return tuple(ir.IntegerAttr(each).value for each in ir.ArrayAttr(array))

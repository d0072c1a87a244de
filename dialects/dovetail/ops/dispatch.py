"""`dovetail.dispatch`: one launch of compiled code."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64, i64_array, open_numbers
from dovetail.dialects.dovetail.numbers import Number, filled
from dovetail.dialects.dovetail.types import OPEN, BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of


class DispatchOp(VerifiedOp, name="dispatch"):
    """Runs `entry` of the plan's code once for each workgroup, in any order and at the same time.

    `workgroups` counts them in x, y and z; `constants` are 32-bit numbers. `bindings` are the memory that it may read
    and write, `numbers` those of the launch that are left open, in order; the low 32 bits of open constants count. What
    only a barrier orders may overlap with launches before and after it. A call with more workgroups than can be
    counted is refused: on a CPU in 32 bits, and z in 16; on a GPU x in 31, y and z in 16. With no workgroup nothing
    runs. On a GPU, `workgroup_size` counts the
    threads of a workgroup in x, y and z, and `shared_memory` the bytes that they share, besides those that the code
    declares by itself. There, `sets` says that the code's first parameter is an array of so many sets of bindings: as
    many as there are workgroups in y are given, and a workgroup takes the set of its number. There, `waits` says that
    the code waits by itself for all that was launched before it, so that it may be launched while that still runs.
    `"dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, workgroups = [...]}`
    """

    bindings: Sequence[Operand[BufferType]]
    numbers: Sequence[Operand[ir.IndexType]]
    entry: ir.StringAttr
    workgroups: ir.ArrayAttr
    constants: ir.ArrayAttr
    optional = ("workgroup_size", "shared_memory", "sets", "waits")
    entry_name = value_of("entry")
    shared_bytes = value_of("shared_memory", 0)  # besides those that the code declares
    set_count = value_of("sets", 0)  # without: each binding is a parameter

    def problem(self) -> str:
        if len(ir.ArrayAttr(self.workgroups)) != 3:
            return f"expects 'workgroups' to count x, y and z, got {self.workgroups}"
        return (
            verify.no_integers(self, "workgroups", may_be_open=True)
            or verify.no_integers(self, "constants", may_be_open=True)
            or verify.too_few(self.numbers, self._stated.count(OPEN), "workgroups and constants")
            or self._no_size()
            or verify.no_count(self, "shared_memory")
            or verify.no_count(self, "sets", 1)
            or self._no_sets()
            or self._no_waiting()
        )

    def _no_size(self) -> str:
        """What is wrong with the threads of a workgroup."""
        size = self.attributes.get("workgroup_size", None)
        if ("shared_memory" in self.attributes) != (size is not None):
            return "expects 'workgroup_size' and 'shared_memory' together"
        if size is None:
            return ""
        if not isinstance(size, ir.ArrayAttr) or len(size) != 3:
            return f"expects 'workgroup_size' to count x, y and z, got {size}"
        return verify.no_integers(self, "workgroup_size")

    def _no_sets(self) -> str:
        """What is wrong with the sets of bindings."""
        if "sets" not in self.attributes:
            return ""
        if not self.threads:
            return "expects 'workgroup_size' beside 'sets'"
        rows, bindings = _numbers(self.workgroups)[1], len(self.bindings)
        if not 1 <= rows <= self.set_count:
            return f"expects 1 to {self.set_count} workgroups in y, as 'sets' says, got {rows}"
        return (
            "" if bindings and bindings % rows == 0 else f"expects {rows} sets of equally many bindings, got {bindings}"
        )

    def _no_waiting(self) -> str:
        """What is wrong with saying that the code waits."""
        if "waits" not in self.attributes:
            return ""
        if not isinstance(self.attributes["waits"], ir.UnitAttr):
            return f"expects 'waits' to be a unit attribute, got {self.attributes['waits']}"
        return "" if self.threads else "expects 'workgroup_size' beside 'waits'"

    @property
    def waits(self) -> bool:
        """Whether the code waits by itself for all that was launched before it."""
        return "waits" in self.attributes

    @property
    def counts(self) -> tuple[Number, ...]:
        """Workgroups in x, y and z."""
        return tuple(filled(self._stated, self.numbers)[:3])

    @property
    def words(self) -> tuple[Number, ...]:
        """The constants."""
        return tuple(filled(self._stated, self.numbers)[3:])

    @property
    def _stated(self) -> tuple[int, ...]:
        return _numbers(self.workgroups) + _numbers(self.constants)

    @property
    def threads(self) -> tuple[int, ...]:
        """Threads of a workgroup in x, y and z; () where that is for the code to know."""
        return _numbers(self.attributes["workgroup_size"]) if "workgroup_size" in self.attributes else ()


def dispatch(
    entry: str,
    workgroups: Sequence[Number],
    constants: Sequence[Number],
    bindings: Sequence[ir.Value],
    workgroup_size: Sequence[int] = (),
    shared_memory: int = 0,
    sets: int = 0,
    waits: bool = False,
) -> DispatchOp:
    """Builds a launch of `entry` on `bindings`, each the result of a `dovetail.subspan`; 0 `sets`: not in sets."""
    stated, numbers = open_numbers([*workgroups, *constants])
    segments = ir.DenseI32ArrayAttr.get([len(bindings), len(numbers)])
    attributes = {"entry": ir.StringAttr.get(entry), "operandSegmentSizes": segments}
    attributes |= {"workgroups": i64_array(stated[:3]), "constants": i64_array(stated[3:])}
    if workgroup_size:
        attributes |= {"workgroup_size": i64_array(workgroup_size), "shared_memory": i64(shared_memory)}
    if sets:
        attributes["sets"] = i64(sets)
    if waits:
        attributes["waits"] = ir.UnitAttr.get()
    return DispatchOp.build([*bindings, *numbers], **attributes)


def _numbers(array: ir.Attribute) -> tuple[int, ...]:
    return tuple(ir.IntegerAttr(number).value for number in ir.ArrayAttr(array))

"""`dovetail.open_dispatch`: a `dovetail.dispatch` of which sizes decide."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.numbers import Number, number, value
from dovetail.dialects.dovetail.ops.dispatch import DispatchOp, launch_attributes
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class OpenDispatchOp(VerifiedOp, name="open_dispatch"):
    """What `dovetail.dispatch` does, with numbers that each call computes; the low 32 bits of `constants` count.

    A call with more workgroups than can be counted, in 32 bits and z in 16, is refused. With no workgroup nothing runs.
    `"dovetail.open_dispatch"(%a, %n, %one, %one) {entry = "add", operandSegmentSizes = array<i32: 1, 3, 0>} : (...)`
    """

    bindings: Sequence[Operand[BufferType]]
    workgroups: Sequence[Operand[ir.IndexType]]
    constants: Sequence[Operand[ir.IndexType]]
    entry: ir.StringAttr
    optional = DispatchOp.optional

    def problem(self) -> str:
        if len(self.workgroups) != 3:
            return f"expects 'workgroups' to count x, y and z, got {len(self.workgroups)} numbers"
        return DispatchOp.no_size(self) or verify.no_count(self, "shared_memory")

    entry_name, threads, shared_bytes = DispatchOp.entry_name, DispatchOp.threads, DispatchOp.shared_bytes

    @property
    def memory(self) -> tuple[ir.Value, ...]:
        """The bindings."""
        return tuple(self.bindings)

    @property
    def counts(self) -> tuple[Number, ...]:
        """Workgroups in x, y and z."""
        return tuple(map(number, self.workgroups))

    @property
    def words(self) -> tuple[Number, ...]:
        """The constants."""
        return tuple(map(number, self.constants))


def open_dispatch(
    entry: str,
    workgroups: Sequence[Number],
    constants: Sequence[Number],
    bindings: Sequence[ir.Value],
    workgroup_size: Sequence[int] = (),
    shared_memory: int = 0,
) -> OpenDispatchOp:
    """Builds a launch of `entry` on `bindings`, each the result of a `dovetail.subspan` or `dovetail.open_subspan`."""
    numbers = [list(map(value, workgroups)), list(map(value, constants))]
    segments = ir.DenseI32ArrayAttr.get([len(bindings), len(workgroups), len(constants)])
    attributes = {**launch_attributes(entry, workgroup_size, shared_memory), "operandSegmentSizes": segments}
    return create(OpenDispatchOp, [*bindings, *numbers[0], *numbers[1]], attributes, [])

"""`dovetail.check_equal`: two sizes that a region takes for one."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail.verify import VerifiedOp


class CheckEqualOp(VerifiedOp, name="check_equal"):
    """Refuses the call, before anything runs, unless `number` is `expected`.

    `"dovetail.check_equal"(%n, %m) : (index, index) -> ()`
    """

    number: Operand[ir.IndexType]
    expected: Operand[ir.IndexType]

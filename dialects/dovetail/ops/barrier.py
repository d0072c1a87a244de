"""`dovetail.barrier`: launches wait for one another."""

from dovetail.dialects.dovetail.verify import VerifiedOp


class BarrierOp(VerifiedOp, name="barrier"):
    """What is launched below it starts when all that was launched above it has ended.

    `"dovetail.barrier"() : () -> ()`
    """

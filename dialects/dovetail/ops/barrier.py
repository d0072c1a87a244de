"""`dovetail.barrier`: launches wait for one another."""

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.dialect import Dovetail


class BarrierOp(Dovetail.Operation, name="barrier"):
    """What is launched below it starts when all that was launched above it has ended.

    `"dovetail.barrier"() : () -> ()`
    """

    def verify_invariants(self) -> bool:
        return not verify.is_as_declared(self) or verify.knows_attributes(self)


def barrier() -> BarrierOp:
    """Builds a barrier."""
    return create(BarrierOp, [], {}, [])

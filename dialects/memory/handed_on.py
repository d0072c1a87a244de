"""New values of arguments that a region updates in place and computes others' new values from."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import body, producer, users
from dovetail.dialects.torch_facts.names import LOAD, STORE


def handed_on(region: func.FuncOp) -> dict[ir.Value, ir.Value]:
    """By the new value, the memory of each argument that a lowered `region` updates and takes the new value of.

    One loop has to make all that reads it: another one might compute it anew, from what is overwritten by then.
    """
    loaded = {op.operands[0] for op in body(region) if op.name == LOAD}
    if not loaded:
        return {}
    stores = [op for op in body(region) if op.name == STORE]
    return {op.operands[0]: op.operands[1] for op in stores if op.operands[1] in loaded and stores_after(op)}


def stores_after(store: ir.Operation) -> list[ir.Operation]:
    """What a region stores that it computes from what `store` stores."""
    computed = producer(store.operands[0])
    reached = reachable([] if computed is None else [computed], lambda op: users(*op.results))
    return [op for op in reached if op.name == STORE and op != store]

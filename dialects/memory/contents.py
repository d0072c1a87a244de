"""Torch's two ops between memory, a `!torch.tensor`, and values, `!torch.vtensor`: `load` and `store`."""

from torch_mlir import ir

from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.types import value_type


def load(memory: ir.Value) -> ir.Value:
    """Builds the value that `memory` holds."""
    return ir.Operation.create(LOAD, results=[value_type(memory.type)], operands=[memory]).result


def store(value: ir.Value, memory: ir.Value) -> ir.Operation:
    """Builds the write of `value` to all of `memory`."""
    return ir.Operation.create(STORE, operands=[value, memory])

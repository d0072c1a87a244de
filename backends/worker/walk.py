"""Going over IREE's modules."""

from collections.abc import Iterator

from iree.compiler import ir


def walk(op: ir.Operation) -> Iterator[ir.Operation]:
    """`op` and all ops inside of it, in the order of the text."""
    yield op
    for region in op.regions:
        for block in region:
            for each in block.operations:
                yield from walk(each.operation)


def kernels(module: ir.Module, name: str) -> list[ir.Operation]:
    """The functions of executables of `module`, which are ops called `name`, that have a body."""
    executables = [op.operation for op in module.body.operations if op.operation.name == "hal.executable"]
    found = [op for executable in executables for op in walk(executable) if op.name == name]
    return [op for op in found if len(op.regions[0].blocks)]

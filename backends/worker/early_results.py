"""Has kernels write results where they belong, in a text of IREE's phase `flow`, also if others read these.

IREE writes what only becomes a result to the memory that is given for it. What a later kernel reads too, it writes to
memory of its own, and copies that in the end. Here that kernel reads the result.
"""

from collections import Counter

from iree.compiler import ir

from dovetail.backends.worker.walk import editing, producer

_DISPATCH, _RESHAPE = "flow.dispatch", "flow.tensor.reshape"
_IMPORT, _RESULT = "hal.tensor.import", "hal.tensor.alias"


def read_results(text: bytes) -> bytes:
    """`text` with such kernels; what is written in memory that the function reads or writes as well stays as it is."""
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            if function.operation.name == "util.func" and len(function.regions[0].blocks):
                ops = [view.operation for view in function.regions[0].blocks[0].operations]
                read = {op.operands[0] for op in ops if op.name == _IMPORT}
                results = [op for op in ops if op.name == _RESULT and len(op.operands) == 3]
                written = Counter(op.operands[1] for op in results)
                for op in results:
                    if op.operands[1] not in read and written[op.operands[1]] == 1:
                        _read(op)
        return str(module).encode()


def _read(result: ir.Operation) -> None:
    """Has all else that takes a kernel's value that becomes `result`, as it is or reshaped, take the result.

    Kernels that write in place take a value of their own.
    """
    shown = result.operands[0]
    chain, made, kernel = [result], shown, producer(shown)
    if kernel is not None and kernel.name == _RESHAPE and len(kernel.operands) == 1:
        chain, made, kernel = [kernel, result], kernel.operands[0], producer(kernel.operands[0])
    others = {use.owner.operation for value in (made, shown) for use in value.uses}.difference(chain)
    if kernel is None or kernel.name != _DISPATCH or not others or any(map(_writes_in_place, others)):
        return
    behind = kernel
    for op in chain:
        op.move_after(behind)
        behind = op
    stand_ins = {shown: result.results[0]}
    if made != shown:
        again = chain[0].clone(ir.InsertionPoint.after(behind))
        again.operands[0] = result.results[0]
        again.results[0].set_type(made.type)
        stand_ins[made] = again.results[0]
    for op in others:
        for index, value in enumerate(op.operands):
            op.operands[index] = stand_ins.get(value, value)


def _writes_in_place(op: ir.Operation) -> bool:
    """Whether `op` writes a result in the memory of an operand."""
    return "tied_operands" in op.attributes and any(each.value >= 0 for each in op.attributes["tied_operands"])

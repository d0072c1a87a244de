"""Reading IREE's modules, going over them, and building ops in them."""

from collections.abc import Iterator

from iree.compiler import ir


def reading() -> ir.Context:
    """A context for text that is read and not edited: its parser loads the dialects that the text has.

    All others take ten times as long as reading a small text, and as long again to be freed.
    """
    return ir.Context(load_on_create_dialects=[])


_BUILT = ("arith", "flow", "linalg", "llvm", "math", "tensor", "util")
"""The dialects whose ops edits build, or may be the first to build, in what they are given."""


def editing() -> ir.Context:
    """A context for text that is edited: its parser loads all other dialects that the text has."""
    context = reading()
    for name in _BUILT:  # `load_on_create_dialects` would import their Python modules
        context.get_dialect_descriptor(name)
    return context


def walk(op: ir.Operation) -> Iterator[ir.Operation]:
    """`op` and all ops inside of it, in the order of the text."""
    yield op
    for region in op.regions:
        for block in region:
            for inner in block.operations:
                yield from walk(inner.operation)


def producer(value: ir.Value) -> ir.Operation | None:
    """The op that computes `value`, None for an argument."""
    return None if isinstance(value.owner, ir.Block) else value.owner


def written_number(value: ir.Value) -> int | None:
    """The whole number that `value` is; None where it is not written out."""
    made = producer(value)
    if made is None or made.name != "arith.constant":
        return None
    return ir.IntegerAttr(made.attributes["value"]).value


def create(name: str, type_: ir.Type, *operands: ir.Value, **attributes: ir.Attribute) -> ir.Value:
    """The result of a new op, of one, at the context's insertion point."""
    return ir.Operation.create(name, results=[type_], operands=list(operands), attributes=attributes).results[0]


def replace(op: ir.Operation, value: ir.Value) -> None:
    """Puts `value` in the place of what `op`, which goes, computes."""
    op.results[0].replace_all_uses_with(value)
    op.erase()


def clone(op: ir.Operation, values: dict[ir.Value, ir.Value], at: ir.InsertionPoint) -> ir.Operation:
    """A copy of `op` that takes what stands for its operands in `values`, to which its results are added."""
    copy = op.clone(at)
    for index, value in enumerate(op.operands):
        copy.operands[index] = values.get(value, value)
    values.update(zip(op.results, copy.results, strict=True))
    return copy


def kernels(module: ir.Module, name: str) -> list[ir.Operation]:
    """The functions of executables of `module`, which are ops called `name`, that have a body."""
    executables = [op.operation for op in module.body.operations if op.operation.name == "hal.executable"]
    found = [op for executable in executables for op in walk(executable) if op.name == name]
    return [op for op in found if len(op.regions[0].blocks)]

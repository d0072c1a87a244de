"""What the globals of a host program hold: constants."""

import re

from iree.compiler import ir

from dovetail.backends.worker.host_ops import Unreadable, check_known, made_by, number, ops_in, symbol

# What uploads a constant when a module is loaded; its blocks are for devices that can and can't read it where it lies.
_UPLOAD = frozenset(
    "arith.constant util.null util.buffer.constant hal.buffer_usage hal.memory_type util.global.load "
    "hal.device.allocator hal.allocator.resolve_memory_properties hal.allocator.import cf.cond_br "
    "hal.allocator.allocate hal.ex.file.from_memory hal.fence.create hal.device.queue.read cf.br hal.fence.await "
    "util.status.check_ok util.global.store util.return".split()
)


def contents(module: ir.Module, value: ir.Value) -> bytes:
    """The bytes of the constant that `value` is loaded from, of a global of `module`."""
    wanted = symbol(made_by(value, "util.global.load"), "global")
    for initializer in (view.operation for view in module.body.operations):
        ops = ops_in(initializer) if initializer.name == "util.initializer" else []
        if any(op.name == "util.global.store" and symbol(op, "global") == wanted for op in ops):
            return _filled(ops)
    raise Unreadable(f"nothing initializes the global @{wanted}")


def _filled(ops: list[ir.Operation]) -> bytes:
    """What an initializer fills a buffer with: a constant, from its first byte to its last."""
    check_known(ops, _UPLOAD)
    found = [op for op in ops if op.name in ("util.buffer.constant", "hal.allocator.import")]
    if [op.name for op in found] != ["util.buffer.constant", "hal.allocator.import"]:
        raise Unreadable("a constant is not one buffer")
    data = _composite(str(found[0].attributes["value"]))
    *_, source, start, size = found[1].operands
    if source != found[0].results[0] or number(start) != 0 or number(size) != len(data):
        raise Unreadable("a constant is a part of a buffer")
    return data


def _composite(text: str) -> bytes:
    """The bytes of `#util.composite<64xi8, [`, a line for each part, and `]>`: it has no bindings."""
    form = re.fullmatch(r"#util.composite<(\d+)xi8, \[\n(.*)\]>", text, re.DOTALL)
    if form is None:
        raise Unreadable("a constant is written in another form than expected")
    parts = [ir.Attribute.parse(part.strip().removesuffix(",")) for part in form[2].splitlines()]
    try:
        data = b"".join(memoryview(part).tobytes() for part in parts)
    except (TypeError, BufferError, ir.MLIRError) as error:
        raise Unreadable(f"a constant's elements can't be read: {error}") from error
    if len(data) != int(form[1]):
        raise Unreadable(f"a constant's parts have {len(data)} bytes, expected {form[1]}")
    return data

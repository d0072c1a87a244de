"""Finds the op whose Python statement raised: an error of ATen's names no place."""

from bisect import bisect_right
from traceback import walk_tb

from torch_mlir import ir

from dovetail.backends.python.emitter import Emitter
from dovetail.backends.python.names import made_name
from dovetail.dialects.reading import Module, body
from dovetail.runtime.host import HOST_HELPERS


def failed_op(module: ir.Module, error: Exception) -> ir.Operation | None:
    """The op of `module` whose statement `error` came out of; None if that can't be told."""
    met = [(frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__)]
    lines = [(name, line) for name, line in met if name.startswith("<dovetail ")]
    if not lines:
        return None
    (name, line), found = lines[-1], Module(module).functions
    named = [op for each, op in found.items() if f"<dovetail {made_name(each)}>" == name and body(op)]
    if len(named) != 1:
        return None
    emitter = Emitter(named[0], dict.fromkeys(found, lambda *_: None), HOST_HELPERS)  # they add statements
    emitter.emit()
    return body(named[0])[bisect_right(emitter.starts, line - 1) - 1]

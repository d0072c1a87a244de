"""The one door to MLIR: contexts with all dialects known, and parsing with located errors."""

import re
import threading
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect
from torch_mlir.dialects._ods_common import _cext

from dovetail.dialects.dovetail import Dovetail, ext
from dovetail.dialects.reading import Module
from dovetail.dialects.sizes.size_facts import broken_facts
from dovetail.errors import ModuleError

DEEPEST = 500
"""Far more than programs have. At 20,000, a type takes MLIR a minute, and regions are a stack overflow."""

_BUILT = ["arith", "func", "irdl", "linalg", "math", "tensor"]
"""The dialects, besides torch's and ours, whose ops are built here. To load all others takes nine times as long; what a
text has of them, its parser loads, and what a pass makes, the pass."""

_NO_BRACKETS = re.compile(rb'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[<>]=')
_STEPS = dict.fromkeys(b"([{<", 1) | dict.fromkeys(b")]}>", -1)
_OTHERS = bytes(set(range(256)).difference(_STEPS))


def check_nesting(text: str) -> None:
    """Raises ModuleError for text whose brackets, those in strings and comments apart, are nested deeper."""
    brackets = _NO_BRACKETS.sub(b"", text.encode("utf-8", "surrogateescape")).translate(None, _OTHERS)
    deepest = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if deepest > DEEPEST:
        raise ModuleError(f"brackets are nested {deepest} deep, expected at most {DEEPEST}")


# Where the bindings find the module of dialect `dovetail`. Not finding it, they would look again for every op that they
# meet, which took half of the passes' time.
_cext.globals.append_dialect_search_prefix("dovetail.dialects")


# Loading defines the dialect in the context and registers its classes in the process; two threads at it crash.
_loading = threading.Lock()


def load_dialects(context: ir.Context) -> None:
    """Loads torch's dialect and ours into `context`; loading twice is harmless, in several threads too."""
    with _loading, context:
        torch_dialect.register_dialect(context)
        with suppress(ext.DialectAlreadyLoadedError):
            Dovetail.load()


def make_context() -> ir.Context:
    """Returns a context for the compiler, `dovetail-opt` and the tests alike.

    Threads are off: a Python verifier under MLIR's thread pool waits for the interpreter lock forever.
    """
    context = ir.Context(load_on_create_dialects=[])
    context.enable_multithreading(False)
    for name in _BUILT:  # `load_on_create_dialects` would import their Python modules, which takes a tenth of a second
        context.get_dialect_descriptor(name)
    load_dialects(context)
    return context


def parse_module(text: str | bytes, context: ir.Context) -> ir.Module:
    """Parses and verifies one module, text or bytecode.

    Raises:
        ir.MLIRError: with line and column.
        ModuleError: for text that is nested too deep, where what MLIR says of it is no text (it quotes names, which
            in bytecode may be any bytes), and for facts about open numbers that can't be;
            for functions whose names are no text.
    """
    if isinstance(text, str):
        check_nesting(text)
    try:
        with context:
            module = ir.Module.parse(text)  # which verifies it
    except RuntimeError as error:
        raise ModuleError(f"MLIR can't read the module, and its message is no UTF-8 text: {error}") from error
    try:
        found = next(broken_facts(Module(module)), None)
    except RuntimeError as error:
        raise ModuleError(f"the module has a name that is no UTF-8 text: {error}") from error
    if found is not None:
        op, broken = found
        raise ModuleError(f"{op.location}: '{op.operation.name}' op {broken}")
    return module


def parse_file(path: Path, context: ir.Context) -> ir.Module:
    """Parses the module in the file at `path`."""
    return parse_module(path.read_text(encoding="utf-8"), context)

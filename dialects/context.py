"""The one door to MLIR: contexts with every dialect loaded, and parsing with located errors."""

from pathlib import Path

from torch_mlir import ir
from torch_mlir.dialects import torch as torch_dialect

from dovetail.dialects.dovetail import Dovetail, ext


def load_dialects(context: ir.Context) -> None:
    """Loads torch's dialect and ours into `context`; loading twice is harmless."""
    with context:
        torch_dialect.register_dialect(context)
        try:
            Dovetail.load()
        except ext.DialectAlreadyLoadedError:
            return


def make_context() -> ir.Context:
    """Returns a context for the compiler, `dovetail-opt` and the tests alike.

    Threads are off: a Python verifier under MLIR's thread pool waits for the interpreter lock forever.
    """
    context = ir.Context()
    context.enable_multithreading(False)
    load_dialects(context)
    return context


def parse_module(text: str, context: ir.Context) -> ir.Module:
    """Parses and verifies one module; raises `ir.MLIRError` with line and column."""
    with context:
        module = ir.Module.parse(text)
        module.operation.verify()
    return module


def parse_file(path: Path, context: ir.Context) -> ir.Module:
    """Parses the module in the file at `path`."""
    return parse_module(path.read_text(encoding="utf-8"), context)

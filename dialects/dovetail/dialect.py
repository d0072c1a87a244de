"""The `dovetail` dialect object."""

from functools import cache
from io import BytesIO

from torch_mlir import ir
from torch_mlir.dialects import ext


class Dovetail(ext.Dialect, name="dovetail"):
    """Memory that the user can observe, and the programs that run on it.

    A `!dovetail.ref` is memory that PyTorch's user holds: an input, an output, or a view of one. Values
    (`!torch.vtensor`) are immutable. `read`, `write`, `own` and `view` are the only ways between the two, so what is
    mutated and what aliases what can be read off the SSA graph. See docs/dialect.md.
    """

    @classmethod
    def _emit_module(cls) -> ir.Module:
        """The definitions of types and ops, in IRDL: to read them takes a fifth of the time that building them does."""
        return ir.Module.parse(cls._definitions())

    @classmethod
    @cache
    def _definitions(cls) -> bytes:
        with ir.Context():
            definitions = BytesIO()
            super()._emit_module().operation.write_bytecode(definitions)
        return definitions.getvalue()

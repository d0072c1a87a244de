"""The `dovetail` dialect object."""

from torch_mlir.dialects import ext


class Dovetail(ext.Dialect, name="dovetail"):
    """Memory that the user can observe, and the programs that run on it.

    A `!dovetail.ref` is memory that PyTorch's user holds: an input, an output, or a view of one. Values
    (`!torch.vtensor`) are immutable. `read`, `write`, `own` and `view` are the only ways between the two, so what is
    mutated and what aliases what can be read off the SSA graph. See docs/dialect.md.
    """

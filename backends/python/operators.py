"""PyTorch's operators by their names in the IR: a name is looked up in PyTorch's own table, never evaluated."""

import re
from functools import cache

import torch

from dovetail.errors import ModuleError

_NAME = re.compile(r"(?P<namespace>[A-Za-z_]\w*)\.(?P<packet>[A-Za-z_]\w*)\.(?P<overload>(?!__)[A-Za-z_]\w*)", re.ASCII)


@cache
def overload(name: str) -> torch._ops.OpOverload:
    """The overload called "aten.add.Tensor"; raises ModuleError if this PyTorch has registered none of that name."""
    match = _NAME.fullmatch(name)
    # Asked of the dispatcher first: `torch.ops` has attributes that are no operators, and makes what it is asked for of
    # TorchScript's, some of which write files. It says "aten::mm" for "aten.mm.default".
    dispatched = name.replace(".", "::", 1).removesuffix(".default")
    if match is None or not torch._C._dispatch_has_kernel(dispatched):
        raise ModuleError(f"PyTorch {torch.__version__} has no operator {name!r}")
    packet = getattr(getattr(torch.ops, match["namespace"]), match["packet"])
    return getattr(packet, match["overload"])

"""Variances in two passes. Eager's kernel goes over the numbers once, one after the other: of half a million in double
precision it is off by thousands of units in the last place, which a program in double precision can't be judged by."""

import math

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten

# Whether the root is taken, and whether the mean is a result.
_OPS = {
    aten.var.correction: (False, False),
    aten.std.correction: (True, False),
    aten.var_mean.correction: (False, True),
    aten.std_mean.correction: (True, True),
}


class TwoPassVariances(TorchDispatchMode):
    """Adds up the squared differences from the mean as ATen adds up anything: in cascades."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func not in _OPS:
            return func(*args, **kwargs)
        value: torch.Tensor = args[0]
        if not value.dim() or not value.numel():
            return func(*args, **kwargs)
        takes_root, gives_mean = _OPS[func]
        dims = [each % value.dim() for each in args[1]] if len(args) > 1 and args[1] else [*range(value.dim())]
        count = math.prod(value.size(each) for each in dims)
        correction = kwargs.get("correction")
        freedom = max(count - (1 if correction is None else correction), 0)
        mean = value.mean(dims, True)
        var = (value - mean).square().sum(dims, kwargs.get("keepdim", False)) / float(freedom)
        result = var.sqrt() if takes_root else var
        return (result, mean if kwargs.get("keepdim") else mean.squeeze(dims)) if gives_mean else result

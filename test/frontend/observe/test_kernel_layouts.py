"""Strides of results, told without computing them, are those that the CPU's kernels give."""

from itertools import product

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from dovetail.frontend.observe.kernel_layouts import as_kernel_lays_out

SIZE = (2, 6, 4, 4)
LAYOUTS = {
    "rows": lambda x: x,
    "channels last": lambda x: x.contiguous(memory_format=torch.channels_last),
    "reversed": lambda x: x.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0),
    "expanded": lambda x: x[:, :1].expand(SIZE),
}
ONE = {
    "logsigmoid": functional.logsigmoid,
    "power of a number": lambda x: 2.0**x,
    "isin": lambda x: torch.isin(x, torch.ones(3)),
    "roll": lambda x: x.roll(1, 0),
    "roll of two": lambda x: x.roll((1, 2), (1, 2)),
    "roll with a whole turn": lambda x: x.roll((4, 1), (2, 0)),
    "roll of whole turns": lambda x: x.roll((-2, 8), (0, 3)),
    "roll of all": lambda x: x.roll(7),
    "channel_shuffle": lambda x: functional.channel_shuffle(x, 3),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True),
    "rrelu": functional.rrelu,
    "poisson": torch.poisson,
    "tanh": torch.tanh,
}
TWO = {
    "copysign": torch.copysign,
    "floor_divide": torch.floor_divide,
    "div": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
    "xlogy": torch.xlogy,
    "xlog1py": torch.special.xlog1py,
    "binary_cross_entropy": lambda x, y: functional.binary_cross_entropy(x, y, reduction="none"),
    "mean of binary_cross_entropy": functional.binary_cross_entropy,
    "unlike": lambda x, y: torch.copysign(x, y[:, :1, :, 0].unsqueeze(-1)),
    "atan2": torch.atan2,
}
CASES = [
    *((name, function, (each,)) for (name, function), each in product(ONE.items(), LAYOUTS)),
    *((name, function, each) for (name, function), each in product(TWO.items(), product(LAYOUTS, LAYOUTS))),
]


class Corrected(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return as_kernel_lays_out(func, args, kwargs or {}, func(*args, **(kwargs or {})))


@pytest.mark.parametrize(("function", "layouts"), [case[1:] for case in CASES], ids=[f"{a}-{c}" for a, _, c in CASES])
def test_strides_are_the_kernels(function, layouts):
    """Would catch a kernel that goes by other operands, or another format, than PyTorch's description says."""
    given = [LAYOUTS[each](torch.rand(SIZE)) for each in layouts]
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    fakes = [mode.from_tensor(each) for each in given]
    with mode, Corrected():
        told = function(*fakes)
    right = function(*given)
    assert [each.stride() for each in tree_leaves(told)] == [each.stride() for each in tree_leaves(right)]


def test_results_that_leave_a_call():
    """Would catch strides that are corrected where nobody asks for them."""
    x = torch.rand(SIZE).transpose(1, 3)

    def function(x):
        return functional.logsigmoid(x), torch.copysign(x, x.contiguous()), x.contiguous() // x

    compiled = torch.compile(function, backend="dovetail")(x)
    assert [each.stride() for each in compiled] == [each.stride() for each in function(x)]

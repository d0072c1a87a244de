"""Which sizes and numbers stay open: what users say of them means the same as with PyTorch's own backends.

Inductor's stand-in is `aot_eager_decomp_partition`, which traces as it does, and compiles nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend

from dovetail.torch_backend import dovetail

STAND_IN = "aot_eager_decomp_partition"

_mark = torch._dynamo.mark_dynamic
_unbacked = torch._dynamo.decorators.mark_unbacked


def rows(x):
    return (x * 2).sum(0) + x.shape[0], x[1:].softmax(0)


def in_fours(x):
    return x.view(4, -1) * 2


def above_five(x):
    return x + 1 if x.shape[0] > 5 else x - 1


def below_eight(x):
    torch._check(x.shape[0] < 8, lambda: "too many rows")
    return x.cumsum(0)


def scaled(x, number):
    return x * number + 1


def of(*sizes: int) -> list[tuple]:
    return [(size,) for size in sizes]


class Choice(NamedTuple):
    """`calls` of a function, each by what its arguments follow from: the rows of a tensor, then numbers."""

    function: Callable
    calls: Sequence[tuple]
    dynamic: bool | None = None
    mark: Callable[[torch.Tensor], Any] = id
    settings: Mapping[str, bool] = MappingProxyType({})


CHOICES = {
    "automatic": Choice(rows, of(4, 7, 9, 2, 1, 0)),
    "automatic, decided": Choice(above_five, of(4, 7, 9, 3)),
    "automatic, fixed": Choice(in_fours, of(4, 8, 12)),
    "all": Choice(rows, of(4, 7, 1), dynamic=True),
    "all, fixed": Choice(in_fours, of(4, 8), dynamic=True),
    "none": Choice(rows, of(4, 7), dynamic=False),
    "marked": Choice(rows, of(4, 7, 1), mark=lambda x: _mark(x, 0)),
    "marked, though none": Choice(rows, of(4, 7), dynamic=False, mark=lambda x: _mark(x, 0)),
    "marked, first of 1": Choice(rows, of(1, 4), mark=lambda x: _mark(x, 0)),
    "marked, decided": Choice(above_five, of(6, 9, 4), mark=lambda x: _mark(x, 0)),
    "marked, but fixed": Choice(lambda x: x.view(5, 3) * 2, of(5, 5), mark=lambda x: _mark(x, 0)),
    "marked from 2 to 8": Choice(rows, of(4, 8, 9), mark=lambda x: _mark(x, 0, min=2, max=8)),
    "marked from 2 to 8, decided": Choice(
        lambda x: above_five(x) * 2, of(4, 7), mark=lambda x: _mark(x, 0, min=2, max=8)
    ),
    "maybe marked": Choice(rows, of(4, 7), mark=lambda x: torch._dynamo.maybe_mark_dynamic(x, 0)),
    "maybe marked, but fixed": Choice(
        lambda x: x.view(5, 3), of(5, 5), mark=lambda x: torch._dynamo.maybe_mark_dynamic(x, 0)
    ),
    "marked as static": Choice(rows, of(4, 7), dynamic=True, mark=lambda x: torch._dynamo.mark_static(x, 0)),
    "marked as unbacked": Choice(lambda x: (x * 2).sum(0), of(4, 1, 0, 7), mark=lambda x: _unbacked(x, 0)),
    "marked as unbacked, decided": Choice(above_five, of(6), mark=lambda x: _unbacked(x, 0)),
    "checked": Choice(below_eight, of(4, 7, 9, 5), dynamic=True),
    "by default open": Choice(rows, of(4, 7), settings={"assume_static_by_default": False}),
    "never automatic": Choice(rows, of(4, 7, 4), settings={"automatic_dynamic_shapes": False}),
    "int": Choice(scaled, [(3, 2), (3, 3), (3, 5), (3, 1), (3, 0)]),
    "float": Choice(scaled, [(3, 0.5), (3, 0.25), (3, 2.0), (3, math.inf)]),
    "int, then float": Choice(scaled, [(3, 2), (3, 0.5), (3, 3)]),
    "int, all": Choice(scaled, [(3, 7), (3, 3)], dynamic=True),
    "float, none": Choice(scaled, [(3, 0.5), (3, 0.25)], dynamic=False),
    "int, specialised": Choice(scaled, [(3, 2), (3, 3)], settings={"specialize_int": True}),
    "float, specialised": Choice(scaled, [(3, 0.5), (3, 0.25)], settings={"specialize_float": True}),
}


def _seen(choice: Choice, backend: Callable | str) -> tuple[list, list]:
    """What the calls returned; and for each how many graphs there were after it, or what it raised."""
    torch._dynamo.reset()
    counter = CompileCounterWithBackend(backend)
    results: list = []
    said: list = []
    with torch._dynamo.config.patch(**choice.settings):
        compiled = torch.compile(choice.function, backend=counter, dynamic=choice.dynamic, fullgraph=True)
        for size, *numbers in choice.calls:
            x = torch.arange(1.0, size * 3 + 1).view(size, 3)
            choice.mark(x)
            try:
                results.append(compiled(x, *numbers))
                said.append(counter.frame_count)
            except Exception as error:  # the other backend's has to be alike
                said.append(f"{type(error).__name__}: {error}".partition("\n")[0])
    return results, said


@pytest.mark.parametrize("name", CHOICES)
def test_open_sizes_are_those_of_other_backends(op_by_op, name):
    """A size that users leave open is fixed behind their back, or raises what it does not with inductor; or one that
    they fix is open."""
    (ours, said), (others, said_by_others) = _seen(CHOICES[name], dovetail), _seen(CHOICES[name], STAND_IN)
    assert said == said_by_others
    torch.testing.assert_close(ours, others)


def test_what_capture_decides_names_the_line(op_by_op):
    """A size that a graph is not for compiles another one, and the log says a line of the compiler's for the reason."""
    compiled = torch.compile(lambda x: x.softmax(1) / max(x.shape[0], 4), backend="dovetail", dynamic=True)
    compiled(torch.ones(6, 3))
    with (
        torch._dynamo.config.patch(error_on_recompile=True),
        pytest.raises(torch._dynamo.exc.RecompileError, match=r"4 <= x\.size\(\)\[0\] .* / max\(x\.shape\[0\], 4\)"),
    ):
        compiled(torch.ones(3, 3))

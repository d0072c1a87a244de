"""Programs of open sizes on a GPU, through IREE: one for all sizes, with values and gradients as exact as eager's."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

import dovetail

pytestmark = pytest.mark.cuda

SIZES = (1000, 2, 3, 5, 17, 64, 129, 4097, 31)
"""Of rows of open length the first one decides whether they are a region's: it is priced by that."""

OF_ROWS = ("softmax", "odd softmax", "norm", "root mean square", "sums", "long sums", "open rows", "open sums")


def tensor(*shape: int, below: float = 0.0) -> torch.Tensor:
    return (torch.randn(*shape, device="cuda") - below).requires_grad_()


def sums(x):
    return x.sum(-1), x.amax(-1), x.mean(-1), x.amin(-1), x.exp().sum(-1)


def residual(x, y, w, b):
    return x + y, F.layer_norm(x + y, w.shape, w, b)


PROGRAMS: dict[str, tuple[Callable, Callable]] = {
    "flat": (lambda x, y: torch.tanh(x) * y.sigmoid(), lambda n: [tensor(37 * n + 3) for _ in "xy"]),
    "bias": (lambda x, b: F.gelu(x + b), lambda n: [tensor(n, 768), tensor(768)]),
    "planes": (lambda x, y: torch.tanh(x) * y + torch.erf(x), lambda n: [tensor(3, n, 64) for _ in "xy"]),
    "odd rows": (lambda x, b: (x * b).exp().log1p(), lambda n: [tensor(n, 37), tensor(37)]),
    "few columns": (lambda x, b: (x * b).cos(), lambda n: [tensor(n, 3), tensor(3)]),
    "outer": (lambda x, y: (x[:, None] + y).sin(), lambda n: [tensor(n), tensor(min(n, 1500) + 5)]),
    "softmax": (lambda x: torch.softmax(x, -1), lambda n: [tensor(n, 512)]),
    "odd softmax": (lambda x: torch.log_softmax(x, -1), lambda n: [tensor(n, 1003)]),
    "norm": (residual, lambda n: [tensor(n, 768), tensor(n, 768), tensor(768), tensor(768)]),
    "root mean square": (lambda x, w: F.rms_norm(x, (1024,), w), lambda n: [tensor(n, 1024), tensor(1024)]),
    "sums": (sums, lambda n: [tensor(n, 300, below=5)]),
    "long sums": (sums, lambda n: [tensor(min(n, 300), 20000, below=5)]),
    "open rows": (lambda x: torch.softmax(x, -1), lambda n: [tensor(3, 2, 7 * n + 1)]),
    "open sums": (sums, lambda n: [tensor(5, 3 * n + 1, below=5)]),
}


def results(function: Callable, arguments: list[torch.Tensor]) -> list[torch.Tensor]:
    made = function(*arguments)
    made = list(made) if isinstance(made, tuple) else [made]
    weights = [torch.arange(each.numel(), device="cuda").view(each.shape) % 7 - 3 for each in made]
    loss = sum((each.double() * weight).sum() for each, weight in zip(made, weights, strict=True))
    return [*made, *torch.autograd.grad(loss, arguments)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_size_is_right(name: str):
    """Catches elements behind the last whole tile left out, or that are part of a sum though they are none."""
    function, make = PROGRAMS[name]
    compiled = torch.compile(function, backend="dovetail", fullgraph=True)
    dovetail.stats(reset=True)
    for size in SIZES:
        given = make(size)
        if size == SIZES[0]:
            _mark_open(given, make(2))
        exact = results(function, [each.detach().double().requires_grad_() for each in given])
        for found, eager, true in zip(results(compiled, given), results(function, given), exact, strict=True):
            norm = torch.linalg.vector_norm(true) + 1e-30
            own, theirs = (torch.linalg.vector_norm(each.double() - true) / norm for each in (found, eager))
            assert own <= 3 * theirs + 4 * torch.finfo(torch.float32).eps, (size, own, theirs)
    stats = dovetail.stats()
    assert not stats.specialised
    assert stats.graphs == 1
    assert stats.kernels["rows" if name in OF_ROWS else "pointwise"]


def _mark_open(given: list[torch.Tensor], others: list[torch.Tensor]) -> None:
    for each, other in zip(given, others, strict=True):
        for dim in (dim for dim, size in enumerate(each.shape) if size != other.shape[dim]):
            torch._dynamo.mark_dynamic(each, dim)

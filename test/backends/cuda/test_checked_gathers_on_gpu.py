"""Losses of classes on a GPU, whose regions gather what targets say: right ones, and what becomes of wrong ones."""

import subprocess
import sys

import pytest
import torch
from torch.nn import functional

import dovetail

pytestmark = pytest.mark.cuda

DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def _losses(scores: torch.Tensor, targets: torch.Tensor) -> list[torch.Tensor]:
    return [
        functional.cross_entropy(scores, targets),
        functional.cross_entropy(scores, targets.clamp(3), reduction="none", ignore_index=3),
        scores.gather(1, targets.clamp(0)[:, None]) * 2,
    ]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(4096, 1000), (64, 3001), (8, 32000), (1, 7), (333, 50257)], ids=str)
def test_losses(shape: tuple[int, int], dtype: torch.dtype):
    """Catches a number of another row or place, a first or last one that is refused, and targets to be ignored that
    count."""
    torch.manual_seed(0)
    scores = torch.randn(shape, device="cuda", dtype=dtype) * 3
    targets = torch.randint(0, shape[1], shape[:1], device="cuda")
    targets[0], targets[-1] = shape[1] - 1, 0
    targets[1::5] = -100
    dovetail.stats(reset=True)
    found = torch.compile(_losses, backend="dovetail")(scores, targets)
    assert not any("gather" in reason for reason in dovetail.stats().library_calls)
    eager, exact = _losses(scores, targets), _losses(scores.double(), targets)
    for ours, theirs, true in zip(found, eager, exact, strict=True):
        least = torch.finfo(dtype).eps / 4 * true.norm()
        assert (ours - true).norm() <= (3 * (theirs - true).norm()).clamp_min(least)


CODE = """
import torch
from torch.nn import functional
import dovetail
from dovetail.errors import LaunchError
torch.manual_seed(0)
scores = torch.randn(64, 100, device="cuda")
targets = torch.randint(0, 100, (64,), device="cuda")
loss = torch.compile(functional.cross_entropy, backend="dovetail")
print(f"{loss(scores, targets).item() == loss(scores, targets).item()}")
targets[17] = TARGET
torch.cuda.synchronize()
try:
    loss(scores, targets)
    torch.cuda.synchronize()
except RuntimeError as error:
    print(str(error).splitlines()[0])
"""


@pytest.mark.parametrize("target", [100, -1, 2**31, 2**32 + 5, -(2**40), 2**62, -(2**63)])
def test_wrong_targets(target: int):
    """Catches a target that is none and is taken for another one, cut to 32 bits or bounded, where eager fails."""
    ran = subprocess.run(
        [sys.executable, "-c", CODE.replace("TARGET", str(target))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    first, *error = ran.stdout.splitlines()
    assert first == "True", ran.stderr
    assert error == ["CUDA error: device-side assert triggered"], ran.stderr
    assert "a position that is gathered at" in ran.stdout + ran.stderr


def test_gradients():
    """Catches a loss whose backward takes what only the region's own copy of positions has."""
    torch.manual_seed(0)
    targets = torch.randint(0, 1000, (256,), device="cuda")
    targets[::7] = -100
    leaves = [torch.randn(256, 1000, device="cuda", requires_grad=True) for _ in range(2)]
    leaves[1].data.copy_(leaves[0])
    for leaf, compute in zip(leaves, (torch.compile(_mean, backend="dovetail"), _mean), strict=True):
        compute(leaf, targets).backward()
    torch.testing.assert_close(leaves[0].grad, leaves[1].grad)


def _mean(scores: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(scores * 1, targets)


def test_padded_scores():
    """Catches a number of another row, where a product's rows are padded and the loss is of a part of each."""
    torch.manual_seed(0)
    rows, weight = torch.randn(4096, 64, device="cuda"), torch.randn(5001, 64, device="cuda")
    targets = torch.randint(0, 5001, (4096,), device="cuda")

    def loss(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(rows @ weight.t(), targets)

    with torch.autocast("cuda", torch.bfloat16):
        eager, found = loss(rows, weight), torch.compile(loss, backend="dovetail")(rows, weight)
    torch.testing.assert_close(found, eager, rtol=1e-3, atol=0)

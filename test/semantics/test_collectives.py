"""Collectives: ops of a namespace that nobody here knows, which see how their operands lie in memory."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
from differential import assert_same

# PyTorch 2.11 knows it by the second name alone.
all_gather = getattr(collectives, "all_gather_single", None) or collectives.all_gather_tensor


@pytest.fixture(scope="module", autouse=True)
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A group of this process alone."""
    file: Path = tmp_path_factory.mktemp("group") / "store"
    backend = "cpu:gloo,cuda:nccl" if dist.is_nccl_available() and torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, init_method=f"file://{file}", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def reduced(x):
    return collectives.all_reduce((x * 2).t().contiguous(), "sum", dist.group.WORLD) + 1


def reduced_as_it_lies(x):
    return collectives.all_reduce((x * 2).t(), "sum", dist.group.WORLD) + 1


def gathered(x):
    return all_gather(x.t().contiguous(), 0, dist.group.WORLD) * 2


def reduced_in_place(x):
    y = x.t().contiguous() * 2
    dist.all_reduce(y)
    return y + 1


@pytest.mark.parametrize("function", [reduced, reduced_as_it_lies, gathered, reduced_in_place])
def test_collective(function: Callable):
    """Catches a collective that is dropped, moved past another, or left to eager."""
    assert_same(function, torch.randn(3, 4), train=False)


def test_operands_lie_as_in_eager(device: str):
    """Catches a collective that sends memory in another order than eager's, so that ranks mix rows and columns."""
    seen: list[tuple] = []

    def noting(x, reduction, group):
        seen.append(x.stride())
        return x.clone(memory_format=torch.contiguous_format)

    x = torch.randn(3, 4)
    compiled = [torch.compile(each, backend="dovetail", fullgraph=True) for each in (reduced, reduced_as_it_lies)]
    for function in compiled:
        function(x)
    with torch.library._scoped_library("_c10d_functional", "IMPL") as library:
        library.impl("all_reduce", noting, device.upper())
        for function in (reduced, reduced_as_it_lies, *compiled):
            function(x)
    assert seen == [(3, 1), (1, 4)] * 2

"""Two ranks: train small models in each way of data parallelism, eagerly and compiled, and say what differs.

`python training_ranks.py DEVICE FOLDER` forks both, so that PyTorch is imported once. What each says of all cases is
in `FOLDER/RANK.json`.
"""

import functools
import gc
import json
import multiprocessing
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

import dovetail
from dovetail import compiler

RANKS, STEPS = 2, 3
SECONDS = 240
CLOSE = {"rtol": 1e-4, "atol": 2e-5}
"""As in differential.py: room for sums in another order."""
HALF = {"rtol": 5e-2, "atol": 2e-3}
"""Of what is computed in bfloat16, where compiled code rounds more rarely than eager's."""


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.product = nn.Linear(512, 512)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + functional.gelu(self.product(x))


class Layers(nn.Module):
    """As many buckets of DDP's as layers: each has a MiB of parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Layer() for _ in range(2))
        self.last = nn.Linear(512, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.last(x)


class Block(nn.Module):
    """A transformer's without attention, which is made of the same kinds of parameters."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.narrow(functional.gelu(self.widen(self.norm(x))))


class Words(nn.Module):
    def __init__(self, is_checkpointed: bool = False) -> None:
        super().__init__()
        self.is_checkpointed = is_checkpointed
        self.words = nn.Embedding(64, 32)
        self.blocks = nn.ModuleList([Block()])
        self.last = nn.Linear(32, 64, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.words(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) if self.is_checkpointed else block(x)
        return self.last(x)


class Norms(nn.Module):
    """With buffers, which DDP sends to all ranks before each forward."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU()) for _ in range(2)
        )
        self.last = nn.Linear(4, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.last(x.mean((2, 3)))


class Branches(nn.Module):
    """Of which a step leaves out one."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Linear(512, 512) for _ in range(2))
        self.last = nn.Linear(512, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.blocks[int(x.shape[0] == 4)](x).relu())


Wrap = Callable[[nn.Module, bool], nn.Module]
"""Wraps a model, and compiles it if it is to be."""


def compiled(module: nn.Module, is_compiled: bool) -> nn.Module:
    return torch.compile(module, backend="dovetail") if is_compiled else module


def ddp(**options) -> Wrap:
    return lambda model, is_compiled: compiled(DistributedDataParallel(model, **options), is_compiled)


def ddp_of_compiled(model: nn.Module, is_compiled: bool) -> nn.Module:
    return DistributedDataParallel(compiled(model, is_compiled))


def fsdp(**options) -> Wrap:
    def wrap(model: nn.Module, is_compiled: bool) -> nn.Module:
        for block in model.blocks:
            fully_shard(block, **options)
        return compiled(fully_shard(model, **options), is_compiled)

    return wrap


def fsdp_of_compiled_blocks(model: nn.Module, is_compiled: bool) -> nn.Module:
    for block in model.blocks:
        if is_compiled:
            block.compile(backend="dovetail")
        fully_shard(block)
    return fully_shard(model)


@dataclass(frozen=True)
class Case:
    """A model in a way of data parallelism.

    Attributes:
        inputs: makes a step's inputs from the number of the step and that of the rank.
        is_half: whether it computes in bfloat16.
        accumulates: whether a step adds up the gradients of two batches before the ranks do.
    """

    model: Callable[[], nn.Module]
    wrap: Wrap
    inputs: Callable[[int, int], torch.Tensor]
    is_half: bool = False
    accumulates: bool = False


def drawn(seed: int, *size: int) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


def rows(step: int, rank: int) -> torch.Tensor:
    return drawn(RANKS * step + rank, 4, 512)


def rows_of_two_sizes(step: int, rank: int) -> torch.Tensor:
    return drawn(RANKS * step + rank, 4 + step % 2, 512)


def images(step: int, rank: int) -> torch.Tensor:
    return drawn(RANKS * step + rank, 3, 4, 6, 6)


def words(step: int, rank: int) -> torch.Tensor:
    return torch.randint(64, (2, 8), generator=torch.Generator().manual_seed(RANKS * step + rank))


CASES = {
    "ddp": Case(Words, ddp(), words),
    "ddp with buffers": Case(Norms, ddp(), images),
    "ddp with unused parameters": Case(Branches, ddp(find_unused_parameters=True), rows_of_two_sizes),
    "ddp in buckets that accumulates": Case(
        Layers, ddp(bucket_cap_mb=1, gradient_as_bucket_view=True), rows, accumulates=True
    ),
    "ddp of a checkpointed model": Case(lambda: Words(is_checkpointed=True), ddp(static_graph=True), words),
    "ddp of a compiled model": Case(Words, ddp_of_compiled, words),
    "fsdp of layers": Case(Layers, fsdp(reshard_after_forward=False), rows),
    "fsdp that accumulates": Case(Words, fsdp(), words, accumulates=True),
    "fsdp in bfloat16": Case(
        Words,
        fsdp(mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)),
        words,
        is_half=True,
    ),
    "fsdp of compiled blocks": Case(Words, fsdp_of_compiled_blocks, words),
}


def trained(case: Case, rank: int, device: torch.device, is_compiled: bool) -> dict[str, torch.Tensor]:
    """Losses and gradients of each step, and the state after the last one, by name."""
    torch.manual_seed(0)
    model = case.model().to(device)
    wrapped = case.wrap(model, is_compiled)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    seen: dict[str, torch.Tensor] = {}
    for step in range(STEPS):
        for is_last, number in ((False, STEPS + step), (True, step)) if case.accumulates else ((True, step),):
            with nullcontext() if is_last else own_gradients(wrapped, model):
                loss = wrapped(case.inputs(number, rank).to(device)).float().logsumexp(-1).mean()
                loss.backward()
            seen[f"loss {number}"] = loss.detach().clone()
        parameters = {name: each for name, each in model.named_parameters() if each.grad is not None}
        seen |= {f"gradient {step} of {name}": whole(each.grad) for name, each in parameters.items()}
        optimizer.step()
        optimizer.zero_grad()
    seen |= {name: whole(each) for name, each in (*model.named_parameters(), *model.named_buffers())}
    return seen


@contextmanager
def own_gradients(wrapped: nn.Module, model: nn.Module) -> Iterator[None]:
    """Where gradients stay each rank's own."""
    if not hasattr(model, "set_requires_gradient_sync"):
        with wrapped.no_sync():
            yield
        return
    model.set_requires_gradient_sync(False)
    yield
    model.set_requires_gradient_sync(True)


def whole(tensor: torch.Tensor) -> torch.Tensor:
    return (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).detach().clone()


def difference(case: Case, rank: int, device: torch.device) -> str:
    """What of the compiled training is not as eager's."""
    torch._dynamo.reset()
    expected = trained(case, rank, device, is_compiled=False)
    dovetail.stats(reset=True)
    actual = trained(case, rank, device, is_compiled=True)
    said = [f"ran eagerly: {reason}" for reason in dovetail.stats().eager]
    said += [] if dovetail.stats().graphs else ["no graph was compiled"]
    if expected.keys() != actual.keys():
        return "\n".join([*said, f"one alone has {sorted(expected.keys() ^ actual.keys())}"])
    for name, value in expected.items():
        try:
            torch.testing.assert_close(actual[name], value, **(HALF if case.is_half else CLOSE))
        except AssertionError as error:
            said.append(f"{name}: {error}")
    return "\n".join(said)


def train(rank: int, device_type: str, folder: Path) -> None:
    """Says of each case what differs on this rank."""
    device = torch.device(device_type, rank) if device_type == "cuda" else torch.device("cpu")
    if device_type == "cuda":
        torch.cuda.set_device(device)
    else:
        # Op by op: IREE makes nothing that differs by rank.
        vars(compiler).update(begin=lambda *_: nullcontext(), build=lambda *_: {})
        vars(compiler)["make_context"] = functools.cache(compiler.make_context)
    dist.init_process_group(
        "nccl" if device_type == "cuda" else "gloo",
        init_method=f"file://{folder / 'store'}",
        rank=rank,
        world_size=RANKS,
        timeout=timedelta(seconds=60),
    )
    said: dict[str, str] = {}
    for name, case in CASES.items():
        try:
            said[name] = difference(case, rank, device)
        except Exception:  # the others are told all the same
            said[name] = traceback.format_exc()
        (folder / f"{rank}.json").write_text(json.dumps(said))
    dist.destroy_process_group()


def main(device_type: str, folder: Path) -> None:
    gc.set_threshold(1_000_000, 5, 100)  # as in conftest.py
    start = multiprocessing.get_context("fork").Process
    ranks = [start(target=train, args=(rank, device_type, folder), daemon=True) for rank in range(RANKS)]
    end = time.monotonic() + SECONDS
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join(max(0, end - time.monotonic()))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

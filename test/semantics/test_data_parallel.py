"""Data parallelism of two ranks, by gloo on CPUs and by NCCL on two GPUs: training is eager's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import training_ranks
from training_ranks import CASES, RANKS


@pytest.fixture(scope="module")
def ranks(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """What each rank says of each case, and what it printed where it says nothing."""
    device = request.config.getoption("--device")
    if device == "emulated-cuda":
        pytest.skip("no collectives are emulated: run it with --device cpu")
    if device == "cuda" and torch.cuda.device_count() < RANKS:
        pytest.skip("needs two GPUs: run `python -m dovetail.tools.gpu` on a host with them")
    folder: Path = tmp_path_factory.mktemp("ranks")
    command = [sys.executable, training_ranks.__file__, device, str(folder)]
    printed = subprocess.run(command, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    return [_said(folder / f"{rank}.json", printed) for rank in range(RANKS)]


def _said(written: Path, printed: str) -> dict[str, str]:
    said = json.loads(written.read_text()) if written.exists() else {}
    return {name: said.get(name, f"not reached: {printed[-2000:]}") for name in CASES}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_training(ranks: list[dict[str, str]], case: str):
    """Catches gradients that are not shared, or summed before they are whole; parameters that are read before they
    are gathered, or kept after; buffers that ranks don't share; and a wrapper for which all runs eagerly."""
    for rank, said in enumerate(ranks):
        assert not said[case], f"rank {rank}: {said[case]}"

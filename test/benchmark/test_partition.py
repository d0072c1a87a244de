"""What partitions save for the backward, ours beside PyTorch's, on models: counted, and not timed."""

import json

import pytest
import torch
from partition import main

# One of each kind, ResNet's convolutions and batch norm being two of them; `make partition-figures` counts all.
MODELS = ["Llama", "perceptron", "U-Net", "LSTM"]
# PyTorch's, for which the page was written: others trace other graphs.
WRITTEN_FOR = "2.13."


@pytest.mark.parametrize("model", MODELS)
def test_bytes_saved(repository, tmp_path, model):
    """Would catch an op that PyTorch's partitioner computes again and ours saves.

    And a budget that is exceeded, ignored, or met by a choice that saves more than a larger budget's. And figures of
    docs/partition.md that are no longer so: U-Net's cut had come to save what it interpolates, and the page hid it.
    """
    target, page = tmp_path / "figures.json", tmp_path / "page.md"
    assert main(["--json", str(target), "-o", str(page), "--only", model]) == 0
    if torch.__version__.startswith(WRITTEN_FOR):
        stale = set(page.read_text().splitlines()) - set((repository / "docs/partition.md").read_text().splitlines())
        assert not stale, "docs/partition.md is stale, run 'make partition-figures'"
    [counted] = json.loads(target.read_text())
    least, most = counted["min_cut"]["nbytes"], counted["default"]["nbytes"]
    assert 0 < least <= min(most, counted["pytorch"]["nbytes"])
    assert counted["default"]["recomputed"] == 0
    saved = {1.0: least} | {float(budget): each["nbytes"] for budget, each in counted["budgets"].items()}
    budgets = sorted(saved)
    sizes = [saved[budget] for budget in budgets]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    for budget in budgets:
        assert saved[budget] <= sizes[0] + budget * (sizes[-1] - sizes[0])


def test_unknown_model_is_named(mistaken):
    """Would catch a misspelt model that measures nothing, or a traceback."""
    status, messages = mistaken("partition.py", "--only", "gtp")
    assert status == 2
    assert "invalid choice: 'gtp'" in messages

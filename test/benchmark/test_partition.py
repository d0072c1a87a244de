"""What partitions save for the backward, ours beside PyTorch's, on models: counted, and not timed."""

import json

import pytest
from partition import main

# One of each kind; `make partition-figures` counts all.
MODELS = ["Llama", "ResNet", "perceptron", "LSTM"]


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:
    """The figures by model, of one run of the command."""
    target = tmp_path_factory.mktemp("partition") / "figures.json"
    assert main(["--json", str(target), "--only", *MODELS]) == 0
    return {figures["model"]: figures for figures in json.loads(target.read_text())}


@pytest.mark.parametrize("model", MODELS)
def test_no_more_bytes_than_pytorch(counted, model):
    """Would catch an op that PyTorch's partitioner computes again and ours saves."""
    assert 0 < counted[model]["min_cut"]["nbytes"] <= counted[model]["pytorch"]["nbytes"]
    assert counted[model]["min_cut"]["nbytes"] <= counted[model]["default"]["nbytes"]
    assert counted[model]["default"]["recomputed"] == 0


@pytest.mark.parametrize("model", MODELS)
def test_smaller_budget_never_saves_more(counted, model):
    """Would catch a budget that is exceeded, ignored, or met by a choice that saves more than a larger budget's."""
    saved = {1.0: counted[model]["min_cut"]["nbytes"]}
    saved |= {float(budget): each["nbytes"] for budget, each in counted[model]["budgets"].items()}
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

"""What a program for a GPU tells of itself."""

import torch

import dovetail


def _fn(x, scale):
    return torch.nn.functional.relu(x @ x.T) * scale


def _inputs() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(4, 4, device="cuda", requires_grad=True), torch.ones((), device="cpu")


def test_stats_name_the_device():
    """The counts of a GPU's programs can't be told from those of the CPU's."""
    before = dovetail.stats().devices
    torch.compile(_fn, backend="dovetail", fullgraph=True)(*_inputs())
    (device,) = dovetail.stats().devices - before
    assert device.startswith("cuda:0 (sm_")
    assert "programs are for" in str(dovetail.stats())


def test_library_calls_elsewhere_have_a_reason():
    """An op that takes a number on the CPU is in no region, and nobody says why."""
    torch.compile(_fn, backend="dovetail", fullgraph=True)(*_inputs())
    reasons = {reason for _, reason in dovetail.stats().library_calls}
    assert "a tensor lies on cpu, regions run on cuda:0" in reasons


def test_explanation_names_the_device():
    """The explanation does not say which device the program is for."""
    assert "forward and backward, on cuda:0 (sm_" in str(dovetail.explain(_fn, *_inputs()))

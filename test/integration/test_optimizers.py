"""Compiled optimizer steps: many small tensors in few launches and calls."""

import torch

import dovetail


def test_adamw_over_many_small_tensors():
    """Would catch a launch, or a library call for a bias correction, for each of the parameters."""
    count = 8
    ours, eager = ([torch.nn.Parameter(torch.linspace(-1, 1, 6) + index) for index in range(count)] for _ in range(2))
    optimizers = [torch.optim.AdamW(parameters, lr=0.1) for parameters in (ours, eager)]
    for parameters in (ours, eager):
        for index, parameter in enumerate(parameters):
            parameter.grad = torch.cos(torch.arange(6.0) + index)
    steps = [torch.compile(optimizers[0].step, backend="dovetail"), optimizers[1].step]
    dovetail.stats(reset=True)
    for step in steps:
        step()
        step()
    torch.testing.assert_close(ours, eager)
    stats = dovetail.stats()
    assert stats.library_calls.total() == 0
    assert stats.regions <= 2 * stats.graphs
    assert not stats.failures


def test_adamw_over_many_large_tensors():
    """One region of all parameters takes minutes to compile, and reads each moment again when it is far away."""
    parameters = [torch.nn.Parameter(torch.randn(300, 300)) for _ in range(6)]
    for parameter in parameters:
        parameter.grad = torch.randn(300, 300)
    before = [parameter.detach().clone() for parameter in parameters]
    dovetail.stats(reset=True)
    torch.compile(torch.optim.AdamW(parameters).step, backend="dovetail")()
    stats = dovetail.stats()
    assert stats.regions >= 6 * stats.graphs
    assert stats.executables <= 2 * stats.graphs
    for parameter, old in zip(parameters, before, strict=True):
        expected = torch.nn.Parameter(old)
        expected.grad = parameter.grad
        torch.optim.AdamW([expected]).step()
        torch.testing.assert_close(parameter, expected)

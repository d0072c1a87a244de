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
    # beta1 ** step and beta2 ** step, each for all parameters at once.
    assert stats.library_calls.total() == 2 * stats.graphs
    assert stats.regions <= 4 * stats.graphs
    assert not stats.failures

"""Compiled optimizer steps: many small tensors in few launches and calls."""

import torch

import dovetail

START = torch.linspace(-1, 1, 6)


def test_adamw_over_many_small_tensors():
    """Would catch a launch, or a library call for a bias correction, for each of the parameters, and wrong moments."""
    types = torch.float32, torch.float32, torch.float64
    ours, eager, exact = ([torch.nn.Parameter((START + index).to(dtype)) for index in range(8)] for dtype in types)
    optimizers = [torch.optim.AdamW(parameters, lr=0.1) for parameters in (ours, eager, exact)]
    steps = [torch.compile(optimizers[0].step, backend="dovetail"), *(each.step for each in optimizers[1:])]
    dovetail.stats(reset=True)
    for number in range(3):
        for parameters, step in zip((ours, eager, exact), steps, strict=True):
            for index, parameter in enumerate(parameters):
                parameter.grad = torch.cos(START * 3 + index + number).to(parameter.dtype)
            step()
    torch.testing.assert_close(ours, eager)
    for mine, theirs, right in zip(ours, eager, exact, strict=True):
        states = [each.state[parameter] for each, parameter in zip(optimizers, (mine, theirs, right), strict=True)]
        for name in ("exp_avg", "exp_avg_sq"):
            error, allowed = ((each[name] - states[2][name]).abs().max() for each in states[:2])
            assert error <= 3 * allowed + 2**-23 * states[2][name].abs().max(), name
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

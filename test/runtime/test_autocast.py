"""Autocast is traced into the program, which then runs with it off."""

import torch


def layer(x, weight):
    return (x @ weight).relu()


def inputs() -> list[torch.Tensor]:
    return [torch.linspace(-1, 1, 16).reshape(4, 4).requires_grad_() for _ in range(2)]


def run(fn, *, outside: bool, backward_inside: bool = False):
    arguments = inputs()
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=outside):
        result = fn(*arguments)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=backward_inside):
        result.float().sum().backward()
    return [result, *(argument.grad for argument in arguments)]


def assert_equal(expected, actual):
    for ours, theirs in zip(expected, actual, strict=True):
        assert ours.dtype == theirs.dtype
        torch.testing.assert_close(ours, theirs)


def test_autocast_around_the_call():
    """Catches a program traced under autocast that runs without its effect, or the reverse (J14), and a backward whose
    library calls autocast casts, though its forward ran without (J7)."""
    compiled = torch.compile(layer, backend="dovetail")
    for outside in (True, False, True):
        assert_equal(run(layer, outside=outside), run(compiled, outside=outside))
    assert_equal(run(layer, outside=False), run(compiled, outside=False, backward_inside=True))

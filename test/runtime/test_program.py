"""The host program: what it pays is counted."""

import torch

import dovetail


def test_copies_of_results_and_into_inputs_are_counted():
    """Catches a copy that the user pays for and that `dovetail.stats()` does not show."""

    def fn(x, y):
        x.copy_(x.flip(0) * 2)
        return (y + 1).exp()

    compiled = torch.compile(fn, backend="dovetail")
    x, y = torch.ones(8)[::2], torch.ones(3, 4).t()
    compiled(x, y)
    dovetail.stats(reset=True)
    assert compiled(x, y).stride() == (1, 4)
    copies = dovetail.stats().copies
    assert copies["value into a mutated input"] == 1
    assert copies["result in another memory layout than eager's"] == 1
    assert x.tolist() == [4.0] * 4


def operators_called(compiled, *arguments) -> set[str]:
    """What a call asks of ATen, by the operators' names."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        compiled(*arguments)
    return {event.key for event in profile.key_averages() if event.key.startswith("aten::")}


def test_a_call_asks_nothing_of_aten_besides_what_it_computes_there():
    """Catches allocations, guards and checks of layouts that go through the dispatcher: a small call is little else."""

    def update(x):
        x.add_(1)
        return x * 2

    compiled = torch.compile(update, backend="dovetail")
    x = torch.zeros(4)
    assert compiled(x).tolist() == [2.0] * 4
    assert operators_called(compiled, x) == set()
    assert x.tolist() == [2.0] * 4
    assert x._version == 2


def test_a_default_device_is_the_users():
    """Catches a program's own memory on the device that the caller's own allocations are to be on."""
    compiled = torch.compile(lambda x: (x * 2).exp(), backend="dovetail")
    x = torch.zeros(4)
    compiled(x)
    with torch.device("meta"):
        assert torch.empty(1).is_meta
        assert compiled(x).tolist() == [1.0] * 4

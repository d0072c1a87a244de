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

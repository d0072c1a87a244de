"""Equal library calls that are joined, or must not be, as the caller sees them."""

import torch
from differential import assert_same


def _sines(*tensors: torch.Tensor) -> list[torch.Tensor]:
    return [tensor.sin() for tensor in tensors]


def _resized(results: list[torch.Tensor], arguments: list) -> None:
    """Uses one result in a way that nothing but its memory's owner may."""
    results[1].resize_(5)
    results[1].fill_(9)


def test_results_have_memory_of_their_own():
    """Would catch results that are parts of one batch: writing one of them beyond its end overwrites the next."""
    assert_same(_sines, *(torch.rand(3) for _ in range(8)), then=_resized)


def test_saved_values_have_memory_of_their_own():
    """Would catch saved parts of a batch, each of which keeps the memory of all until the backward."""
    compiled = torch.compile(
        lambda *tensors: sum(tensor.tan().sum() for tensor in tensors),
        backend="dovetail",
        options={"partition": "default"},
    )
    sizes = []

    def pack(saved: torch.Tensor) -> torch.Tensor:
        sizes.append((saved.nbytes, saved.untyped_storage().nbytes()))
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        compiled(*(torch.rand(3, requires_grad=True) for _ in range(8)))
    assert set(sizes) == {(12, 12)}


def test_complex_tensors_are_not_put_together():
    """Would catch a concatenation as a region's work of an element type that no region takes."""
    assert_same(lambda x: [(x[index] * 2).exp().abs() for index in range(8)], torch.rand(8, 3, dtype=torch.complex64))


def test_a_group_may_be_moved_by_another():
    """Would catch a group joined in the order that it had before another one was."""

    def mixed(x: torch.Tensor) -> torch.Tensor:
        first = x[0].sin()
        second, base = first.cos(), x[6].log10()
        cosines = [second, *((base + index).cos() for index in range(1, 6))]
        sines = [first, *(x[index].sin() for index in range(1, 6))]
        return torch.stack(cosines + sines) * 2

    assert_same(mixed, torch.rand(7))

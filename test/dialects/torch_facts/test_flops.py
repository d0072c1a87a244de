"""The floating-point operations of library kernels, beside PyTorch's own count of the same calls."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count

import dovetail


def counted(fn, *arguments: torch.Tensor) -> int:
    """What `stats()` says of library kernels in forward and backward."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    torch.compile(fn, backend="dovetail", fullgraph=True)(*arguments).sum().backward()
    return dovetail.stats().flops["library"]


def by_pytorch(fn, *arguments: torch.Tensor) -> int:
    with FlopCounterMode(display=False) as counter:
        fn(*arguments).sum().backward()
    return counter.get_total_flops()


def image(*shape: int, grad: bool = True) -> torch.Tensor:
    return torch.randn(shape, requires_grad=grad)


@pytest.mark.parametrize("is_transposed", [False, True], ids=["", "transposed"])
@pytest.mark.parametrize("needs_input", [False, True], ids=["weight's gradient", "both gradients"])
def test_convolution(is_transposed: bool, needs_input: bool):
    """Would catch `_convolution` taken for attention, and the gradient of an input that nobody wants."""
    fn = torch.nn.functional.conv_transpose2d if is_transposed else torch.nn.functional.conv2d

    def convolution(x, w):
        return fn(x, w, stride=2)

    arguments = image(2, 4, 9, 9, grad=needs_input), image(4, 6, 3, 3) if is_transposed else image(6, 4, 3, 3)
    assert counted(convolution, *arguments) == by_pytorch(convolution, *arguments)


def test_groups():
    """Would catch inputs of all groups counted for each filter, as PyTorch does for the weight's gradient."""

    def convolution(x, w):
        return torch.nn.functional.conv2d(x, w, groups=2)

    made, weights = 2 * 6 * 7 * 7, 2 * 3 * 3
    assert counted(convolution, image(2, 4, 9, 9), image(6, 2, 3, 3)) == 3 * 2 * made * weights


def test_attention():
    """Would catch a backward that counts as a forward does: it has five products in place of two."""
    query, key, value = image(2, 3, 16, 8), image(2, 3, 32, 8), image(2, 3, 32, 8)
    shapes = query.shape, key.shape, value.shape
    expected = sdpa_flop_count(*shapes) + sdpa_backward_flop_count(query.shape, *shapes)
    assert counted(torch.nn.functional.scaled_dot_product_attention, query, key, value) == expected


@pytest.mark.parametrize(
    ("fn", "shapes"),
    [
        (torch.mm, [(4, 8), (8, 16)]),
        (torch.bmm, [(2, 4, 8), (2, 8, 16)]),
        (torch.addmm, [(16,), (4, 8), (8, 16)]),
    ],
    ids=["mm", "bmm", "addmm"],
)
def test_products(fn, shapes: list[tuple[int, ...]]):
    """Would catch an operand that is added, taken for one that is multiplied."""
    arguments = [image(*shape) for shape in shapes]
    assert counted(fn, *arguments) == by_pytorch(fn, *arguments)


def test_what_is_written_where_it_is_joined():
    """Would catch work that counts for none: a call that is given memory for its result has no results."""
    x = image(3000, 30, grad=False)  # rows too short for kernels of ours
    dovetail.stats(reset=True)
    torch.compile(lambda x: torch.cat([x * 2, x + 1], 1), backend="dovetail")(x)
    assert dovetail.stats().flops == {"library": 4 * x.numel()}

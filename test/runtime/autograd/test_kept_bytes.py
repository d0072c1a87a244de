"""How many bytes a call keeps for its backward: no more than eager, where only the call keeps its arguments alive."""

from collections.abc import Callable

import pytest
import torch
from torch.nn.functional import gelu, layer_norm

pytestmark = pytest.mark.usefixtures("op_by_op")


def kept_bytes(fn: Callable, *leaves: torch.Tensor) -> int:
    """The memory of all that a call of `fn` keeps, each once."""
    kept: dict[int, int] = {}

    def note(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = fn(*(leaf * 1 for leaf in leaves))
    assert result.grad_fn is not None
    return sum(kept.values())


@pytest.mark.parametrize(
    "fn",
    [
        lambda x, y: gelu(x),
        lambda x, y: layer_norm(x, (16,)),
        lambda x, y: (x * 2 + 1).tanh(),
        lambda x, y: layer_norm(x + y, (16,)),
        lambda x, y: (x + y).relu() @ y[:16].detach(),
    ],
    ids=["gelu", "layer norm", "tanh", "sum", "relu"],
)
def test_no_more_is_kept_than_in_eager(fn):
    """Catches activations twice: what the backward takes, beside the argument that a second derivative starts from."""
    torch._dynamo.reset()
    x, y = torch.randn(32, 16, requires_grad=True), torch.randn(32, 16, requires_grad=True)
    assert kept_bytes(torch.compile(fn, backend="dovetail", fullgraph=True), x, y) <= kept_bytes(fn, x, y)


@pytest.mark.parametrize("fn", [lambda x: gelu(x), lambda x: layer_norm(x, (16,))], ids=["gelu", "layer norm"])
def test_what_is_kept_may_not_be_written(fn):
    """Catches a gradient computed from what the argument became: the call keeps it in place of a value of its own."""
    torch._dynamo.reset()
    for call in (fn, torch.compile(fn, backend="dovetail", fullgraph=True)):
        x = torch.randn(8, 16, requires_grad=True) * 1
        result = call(x)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            result.sum().backward()

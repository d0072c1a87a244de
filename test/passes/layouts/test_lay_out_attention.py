"""Attention's gradients go to regions as its kernel lays them out."""

import pytest
import torch
from torch.nn import functional

import dovetail
from dovetail.dialects.torch_facts.ops import row_of_name

NAME = "aten._scaled_dot_product_flash_attention_for_cpu"
LAYOUTS = {
    "rows": lambda: torch.randn(2, 4, 8, 16),
    "heads together": lambda: torch.randn(2, 8, 4, 16).transpose(1, 2),
    "a part": lambda: torch.randn(2, 8, 3, 4, 16)[:, :, 1].transpose(1, 2),
    "positions first": lambda: torch.randn(8, 2, 4, 16).permute(1, 2, 0, 3),
}


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("name", LAYOUTS)
def test_order_of_the_row(name, is_causal):
    """Catches a kernel that lays its gradients out otherwise than its row says: the host would show them copied."""
    query, key, gradient = (LAYOUTS[name]() for _ in range(3))
    value = torch.randn(2, 4, 8, 16)
    result, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0, is_causal)
    backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    gradients = backward(gradient, query, key, value, result, sums, 0.0, is_causal)
    order = row_of_name(f"{NAME}_backward.default").order
    assert all(each.permute(order).is_contiguous() for each in gradients)


@pytest.mark.parametrize("dynamic", [False, True])
def test_nothing_is_copied_for_regions(dynamic):
    """Catches gradients of rotated queries and keys that are copied, each, for the region that turns them back."""

    def attend(x: torch.Tensor, cosine: torch.Tensor) -> torch.Tensor:
        query = x.view(2, x.size(1), 4, 16).transpose(1, 2) * cosine
        return functional.scaled_dot_product_attention(query, query.sin(), query.cos())

    torch._dynamo.reset()
    dovetail.stats(reset=True)
    found = []
    for fn in (attend, torch.compile(attend, backend="dovetail", fullgraph=True)):
        torch.manual_seed(0)
        x, cosine = torch.randn(2, 32, 64, requires_grad=True), torch.randn(32, 16)
        if dynamic:
            torch._dynamo.maybe_mark_dynamic(x, 1)
            torch._dynamo.maybe_mark_dynamic(cosine, 0)
        result = fn(x, cosine)
        result.square().sum().backward()
        found.append((result.detach(), x.grad, x.grad.stride()))
    torch.testing.assert_close(found[1], found[0])
    assert not [reason for reason in dovetail.stats().copies if reason.startswith("region input")]

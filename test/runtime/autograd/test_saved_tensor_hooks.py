"""The user's hooks on saved tensors see what a compiled function saves, and decide what its backward gets."""

import pytest
import torch

hooks = torch.autograd.graph.saved_tensors_hooks


def compiled(fn):
    # "default" saves what "min-cut" may compute again.
    return torch.compile(fn, backend="dovetail", fullgraph=True, options={"partition": "default"})


def layer(x, w):
    return ((x @ w).sin() @ w).exp()


def leaves() -> list[torch.Tensor]:
    return [torch.linspace(-1, 1, 16).reshape(4, 4).requires_grad_() for _ in range(2)]


def gradients(fn, pack, unpack, create_graph: bool = False) -> list[torch.Tensor]:
    inputs = leaves()
    with hooks(pack, unpack):
        result = fn(*inputs)
    return list(torch.autograd.grad(result.sum(), inputs, create_graph=create_graph))


def test_all_saved_values_are_packed():
    """Catches activations that bypass the hooks: offloading them would then save no memory."""
    fn, packed, unpacked = compiled(layer), [], []
    fn(*leaves())
    gradients(fn, lambda each: packed.append(each) or each, lambda each: unpacked.append(each) or each)
    x, w = leaves()
    product = (x @ w).detach()
    for expected in (w, product, (product.sin() @ w).exp()):
        assert any(torch.allclose(each, expected) for each in packed), f"nothing like {expected} was packed"
    assert [id(each) for each in unpacked] == [id(each) for each in packed]


@pytest.mark.parametrize("create_graph", [False, True])
def test_other_type_in_between(create_graph):
    """Catches a backward that takes the saved values from elsewhere than the hooks."""
    found = [
        gradients(fn, lambda each: each.double(), lambda each: each.float(), create_graph)
        for fn in (layer, compiled(layer))
    ]
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_changed_values():
    """Catches hooks that run without effect."""
    zeros = gradients(compiled(layer), lambda each: each, torch.zeros_like)
    assert not any(each.any() for each in zeros)


def test_double_backward():
    """Catches a second derivative that loses the history of what went through hooks."""
    found = []
    for fn in (layer, compiled(layer)):
        x, w = leaves()
        with hooks(lambda each: each.double(), lambda each: each.float()):
            result = fn(x, w)
        first = torch.autograd.grad(result.sum(), (x, w), create_graph=True)
        found.append(torch.autograd.grad(sum((each * each).sum() for each in first), (x, w)))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-3)


def test_save_on_cpu():
    """Catches `save_on_cpu`, which packs device and tensor, going wrong."""
    found = []
    for fn in (layer, compiled(layer)):
        inputs = leaves()
        with torch.autograd.graph.save_on_cpu():
            result = fn(*inputs)
        found.append(torch.autograd.grad(result.sum(), inputs))
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-5)


def test_error_in_a_hook():
    """Catches an unpack error that is swallowed, or that spoils the next call."""

    def fail(_):
        raise ValueError("gone")

    fn = compiled(layer)
    with pytest.raises(ValueError, match="gone"):
        gradients(fn, lambda each: each, fail)
    expected = gradients(layer, lambda each: each, lambda each: each)
    torch.testing.assert_close(gradients(fn, lambda each: each, lambda each: each), expected, rtol=1e-4, atol=1e-5)


def test_retained_and_freed_graph():
    """Catches packed values freed by a backward with `retain_graph`, or still there after one without."""
    x, w = leaves()
    with hooks(lambda each: each.double(), lambda each: each.float()):
        total = compiled(layer)(x, w).sum()
    total.backward(retain_graph=True)
    once = x.grad.clone()
    total.backward()
    torch.testing.assert_close(x.grad, 2 * once)
    with pytest.raises(RuntimeError, match="retain_graph"):
        total.backward()


def test_call_without_hooks_after_one_with():
    """Catches what was saved under hooks deciding how later calls save."""
    fn, packed = compiled(layer), []
    gradients(fn, lambda each: packed.append(each) or each, lambda each: each)
    count = len(packed)
    x, w = leaves()
    fn(x, w).sum().backward()
    assert len(packed) == count
    torch.testing.assert_close(x.grad, torch.autograd.grad(layer(x, w).sum(), x)[0], rtol=1e-4, atol=1e-5)


def test_disabled_hooks():
    """Catches compiled functions that can't run where hooks are forbidden."""
    x, w = leaves()
    fn = compiled(layer)
    with torch.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
        fn(x, w).sum().backward()
        with pytest.raises(RuntimeError, match="no hooks here"), hooks(lambda each: each, lambda each: each):
            fn(x, w)
    assert x.grad is not None

"""What eager's kernels refuse by element types and numbers raises eager's error when it is compiled, too."""

import pytest
import torch
import torch.nn.functional as F

import dovetail
from dovetail.frontend.observe import eager_errors

pytestmark = pytest.mark.filterwarnings("ignore::dovetail.errors.EagerWarning")

REFUSED = {
    "a number less a mask": lambda x, mask: 1 - mask,
    "numbers less a mask": lambda x, mask: x - mask,
    "in place": lambda x, mask: (x * 2).sub_(mask),
    "absolute truth values": lambda x, mask: mask.abs(),
    "rounded truth values": lambda x, mask: mask.ceil(),
    "gelu of integers": lambda x, mask: F.gelu(mask.int()),
    "fractions of integers": lambda x, mask: mask.int().frac(),
    "a fill out of range": lambda x, mask: mask.int().fill_(2**40),
    "a masked fill out of range": lambda x, mask: x.half().masked_fill(mask, 1e9),
    "a softmax of integers": lambda x, mask: mask.int().softmax(0),
    "a product of two types": lambda x, mask: x.expand(3, 3) @ mask.int(),
    "a loss of two types": lambda x, mask: F.binary_cross_entropy(x.sigmoid(), x.double().sigmoid()),
    "targets of another type": lambda x, mask: F.cross_entropy(x.expand(3, 3), mask.int()),
    "statistics of another type": lambda x, mask: F.batch_norm(x.expand(3, 3), x.double(), x.double().exp()),
    "halves of integers": lambda x, mask: F.glu(mask.int().repeat(2)),
    "reflected truth values": lambda x, mask: F.pad(mask[None], (1, 1), mode="reflect"),
}
UNUSED = {
    "a product of two types": lambda x, mask: x.expand(3, 3) @ mask.int(),
    "the largest of truth values": lambda x, mask: mask.argmax(),
    "rows added of another type": lambda x, mask: x.index_add(0, mask.long()[:1], x[:1].double()),
    "a median of truth values": lambda x, mask: mask.median(),
}


COMPUTED_BY_GPUS = {"absolute truth values", "statistics of another type", "a median of truth values"}


def assert_as_eager(name, fn, device):
    """`fn`, compiled, raises what eager raises; what a GPU's kernels compute it computes there. Returns both errors."""
    arguments = torch.tensor([1.0, -2.0, 3.0]), torch.tensor([True, False, True])
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    if name in COMPUTED_BY_GPUS and device == "cuda" and torch.version.cuda:
        torch.testing.assert_close(compiled(*arguments), fn(*arguments))
        return "", ""
    with pytest.raises((RuntimeError, NotImplementedError)) as expected:
        fn(*arguments)
    with pytest.raises(type(expected.value)) as actual:
        compiled(*arguments)
    return str(expected.value).splitlines()[0], str(actual.value)


@pytest.mark.parametrize("name", REFUSED)
def test_error_is_eagers(name, device):
    """Catches a result in place of the error, or the other way round: generated code has no opinion on types."""
    expected, actual = assert_as_eager(name, REFUSED[name], device)
    assert expected in actual


@pytest.mark.parametrize("name", UNUSED)
def test_error_of_what_nothing_uses(name, device):
    """Catches an op that is left out for its result, and its error with it."""

    def fn(x, mask):
        UNUSED[name](x, mask)
        return x * 2

    assert_as_eager(name, fn, device)


def test_numbers_of_other_types_are_other_calls(op_by_op):
    """Catches an answer that is remembered for 1 and given for True, or the other way round."""
    for number in (True, 1, 1.0):
        call = torch.compile(lambda mask, number=number: mask * number, backend="dovetail", fullgraph=True)
        mask = torch.tensor([True, False])
        assert call(mask).dtype == (mask * number).dtype


def test_what_eager_computes_stays_compiled(op_by_op):
    """Catches an op that is asked with sizes which it does not take, and a graph that runs eagerly for it."""

    def fn(x, weight):
        y = F.prelu(x, weight).clamp(min=weight[:1, None]).lerp(x, 0.5)
        y = F.layer_norm(y, (3,), weight) + F.pad(x @ weight, (0, 1)).roll(1)[:2, None] + torch.cat([x, y]).var(0)
        y = y + F.batch_norm(y, None, None, weight, training=True) + F.glu(y.repeat(1, 2)) + y.gather(1, x.argsort(1))
        y = y + F.conv1d(y[None], weight[None, None].expand(2, 2, 3), padding=1)[0] + F.embedding(x.argmin(1) % 2, y)
        return y.masked_fill(y > 1, 3), (x > 0).logical_xor(x < 1), x.int() // 2, F.softmax(x, 1), torch.full((2,), 7)

    before = dovetail.stats()
    torch.compile(fn, backend="dovetail", fullgraph=True)(torch.randn(2, 3), torch.rand(3))
    after = dovetail.stats()
    assert after.graphs > before.graphs
    assert after.eager == before.eager


def test_kernels_are_asked_of_many_dimensions(op_by_op):
    """Catches memory for two elements along each of forty dimensions: the graph ran eagerly, or the process ended."""
    x = torch.tensor(3.0).view([1] * 40)
    before = dovetail.stats()
    assert torch.compile(lambda x: x * 2, backend="dovetail", fullgraph=True)(x).equal(x * 2)
    assert dovetail.stats().eager == before.eager


def test_no_kernel_is_asked_for_a_large_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches gigabytes that are filled at compile time, to learn what a kernel says of an element type."""

    def ask(*_: object) -> None:
        raise AssertionError("a kernel was asked")

    monkeypatch.setattr(eager_errors, "_asked", ask)
    for sizes in ([1 << 24], [1 << 12, 1 << 12]):
        assert eager_errors.eager_error(torch.ops.aten.repeat.default, (torch.ones(2), sizes), {}) is None

"""Ops that users register: those that write their arguments, and those with a gradient of their own.

They write through numpy, as code from elsewhere does: in-place ops of PyTorch inside of an op move the version counter,
of which a compiler that does not run the op can't know.
"""

import pytest
import torch
from differential import assert_same

from dovetail.errors import EagerWarning

pytestmark = pytest.mark.usefixtures("op_by_op")

calls: list[str] = []


@torch.library.custom_op("dovetail_test::increment", mutates_args={"x"})
def increment(x: torch.Tensor) -> None:
    calls.append("increment")
    x.numpy()[...] += 1


@torch.library.custom_op("dovetail_test::mix", mutates_args={"x", "others", "maybe"})
def mix(
    x: torch.Tensor, others: list[torch.Tensor], maybe: torch.Tensor | None, factor: float, seen: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    x.numpy()[...] *= factor
    for index, each in enumerate(others):
        each.numpy()[...] += index + 1
    if maybe is not None:
        maybe.numpy()[...] = 0
    return x.sum(), x + seen


@torch.library.custom_op("dovetail_test::total", mutates_args={"x"})
def total(x: torch.Tensor) -> torch.Tensor:
    x.numpy()[...] *= 3
    return x.sum()


@torch.library.custom_op("dovetail_test::break_off", mutates_args={"x"})
def break_off(x: torch.Tensor) -> None:
    x.numpy()[...] *= 100
    if x.sum() > 500:
        raise ValueError("too much")


@torch.library.custom_op("dovetail_test::smooth", mutates_args=())
def smooth(x: torch.Tensor, scale: float) -> torch.Tensor:
    return (x * scale).tanh()


mix.register_fake(lambda x, others, maybe, factor, seen: (x.new_empty(()), torch.empty_like(x)))
total.register_fake(lambda x: x.new_empty(()))
smooth.register_fake(lambda x, scale: torch.empty_like(x))


def _smooth_setup(ctx, inputs, output):
    ctx.save_for_backward(output)
    ctx.scale = inputs[1]


def _smooth_backward(ctx, gradient):
    (output,) = ctx.saved_tensors
    return gradient * (1 - output * output) * ctx.scale, None


smooth.register_autograd(_smooth_backward, setup_context=_smooth_setup)


def test_argument_is_written():
    """Catches a write of a custom op that the caller does not see, or sees twice."""

    def fn(x):
        increment(x)
        return x * 2

    assert_same(fn, torch.rand(3, 4))


def test_order_of_writes():
    """Catches a read that moves past a write: values are immutable, so each write must make a new one."""

    def fn(x):
        y = x.exp()
        before = y * 1
        increment(y)
        between = y * 2
        increment(y)
        return before, between, y * 3

    assert_same(fn, torch.rand(4))


@pytest.mark.parametrize("layout", ["whole", "rows", "transposed", "columns"])
def test_views_are_written(layout):
    """Catches a written view that is regenerated at another place of its base."""
    views = {
        "whole": lambda x: x.view(-1),
        "rows": lambda x: x[1:3],
        "transposed": lambda x: x.t(),
        "columns": lambda x: x[:, ::2],
    }

    def fn(x):
        y = x * 2
        increment(views[layout](y))
        return y, y + 1

    assert_same(fn, torch.rand(4, 6))


def test_written_argument_of_other_strides():
    """Catches memory that is laid out row by row where the views of it are not."""

    def fn(x):
        increment(x[1:])
        return x.t() + 1

    assert_same(fn, torch.rand(4, 6), prepare=lambda x: [x.t()])


@pytest.mark.parametrize("maybe", [True, False])
def test_lists_optionals_and_several_results(maybe):
    """Catches results and written tensors that are exchanged."""

    def fn(x, y, z, seen):
        base = y + 1
        results = mix(x, [base[0], z, base[1]], seen if maybe else None, 2.0, x * 3)
        return *results, base, z + 1

    assert_same(fn, torch.rand(3), torch.rand(2, 3), torch.rand(4), torch.rand(3))


def test_two_arguments_in_one_memory():
    """Catches copies of overlapping arguments that don't see each other's writes."""

    def fn(x):
        y = x.exp()
        return *mix(y[0], [y[0], y[1]], None, 2.0, x[0]), y

    assert_same(fn, torch.rand(2, 3))


@pytest.mark.parametrize("parts", [(slice(0, 2), slice(0, 2)), (slice(0, 2), slice(2, 4))], ids=["same", "apart"])
def test_what_it_writes_is_detached_besides(parts):
    """Catches writes that are lost: `detach` gives no view, and tracing had the op write a copy of each tensor."""

    def fn(x):
        y = x.exp()
        first, second = parts
        return *mix(y[first], [y.detach()[second]], None, 2.0, x[:2]), y

    assert_same(fn, torch.rand(4), eager=True, graphs=0)


def test_what_it_writes_is_read_by_another_name():
    """Catches what an op of unknown order reads as it was before the op's own writes."""

    def fn(x):
        y = x.exp()
        return *mix(y, [], None, 2.0, y), y

    assert_same(fn, torch.rand(3), eager=True, graphs=0)


def test_result_and_write():
    """Catches a result that is taken from memory after a later write."""

    def fn(x):
        y = x + 1
        first = total(y)
        return first, total(y), y

    assert_same(fn, torch.rand(3))


def test_gradients_flow_around_it():
    """Catches an op whose write ends up in the backward, or runs there again."""

    def fn(x, buffer):
        y = x.exp()
        increment(buffer)
        return (y * buffer).sin()

    assert_same(fn, torch.rand(4, requires_grad=True), torch.rand(4))
    calls.clear()
    result = torch.compile(fn, backend="dovetail")(torch.rand(4, requires_grad=True), torch.rand(4))
    assert calls == ["increment"]
    result.sum().backward()
    assert calls == ["increment"]


def test_error_leaves_arguments_as_they_were():
    """Catches an argument that is partly written when the op raises."""

    def fn(x, y):
        y.add_(1)
        break_off(x)
        return x + y

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    compiled(torch.zeros(3), torch.zeros(3))
    x, y = torch.full((3,), 2.0), torch.zeros(3)
    with pytest.raises(ValueError, match="too much"):
        compiled(x, y)
    assert x.tolist() == [2.0] * 3
    assert y.tolist() == [0.0] * 3


def test_registered_gradient():
    """Catches a custom gradient that is ignored, and a forward that runs again in the backward."""
    assert_same(lambda x: smooth(x.exp(), 0.5).sin() * x, torch.rand(5, requires_grad=True))


def test_list_in_the_older_form_runs_eagerly():
    """Catches written lists of which the older form of tracing loses the results."""

    def fn(x):
        y, z = x * 2, x * 3
        mix(y, [z], None, 2.0, x)
        return y, z

    with torch._inductor.config.patch(enable_auto_functionalized_v2=False):
        assert_same(lambda x: increment(x), torch.rand(3))
        with pytest.warns(EagerWarning, match=r"a list that .* writes is not supported"):
            torch.compile(fn, backend="dovetail", fullgraph=True)(torch.rand(3))

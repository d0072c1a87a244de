"""The text of a call: what changes a program changes it, and what text can't tell has none."""

import operator
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._functorch import config as functorch_config

from dovetail.frontend.program_key import call_text
from dovetail.frontend.program_key.unkeyed import Unkeyed


def text(function, *inputs) -> str:
    return call_text(torch.fx.symbolic_trace(function), inputs)


def graph(target, *args) -> torch.fx.GraphModule:
    """A graph that calls `target` on its argument and `args`."""
    made = torch.fx.Graph()
    x = made.placeholder("x")
    node = made.call_function(target, (x,))
    made.output(node)
    gm = torch.fx.GraphModule(nn.Module(), made)
    node.args = (x, *args)  # what has no Python text, too
    return gm


X = torch.rand(2, 4)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(lambda x: x + 1, lambda x: x + 2, id="constant"),
        pytest.param(lambda x: x + 1, lambda x: x + 1.0, id="type of a constant"),
        pytest.param(lambda x: x * 0.0, lambda x: x * -0.0, id="sign of zero"),
        pytest.param(lambda x: x + 1, lambda x: x + True, id="truth value"),
        pytest.param(lambda x: x.sum(0), lambda x: x.mean(0), id="method"),
        pytest.param(lambda x: torch.sin(x), lambda x: torch.cos(x), id="function"),
        pytest.param(lambda x: x.sum((0, 1)), lambda x: x.sum([0, 1]), id="type of a sequence"),
        pytest.param(lambda x: x[1:], lambda x: x[:1], id="slice"),
        pytest.param(lambda x: x.mT, lambda x: x.T, id="attribute"),
        pytest.param(lambda x: x.to(torch.float64), lambda x: x.to(torch.float16), id="dtype"),
    ],
)
def test_another_graph_is_another_text(one, other):
    """Catches the program of one graph run for another."""
    assert text(one, X) != text(other, X)
    assert text(one, X) == text(one, X)


def leaf(*shape) -> torch.Tensor:
    return torch.rand(*shape).requires_grad_()


SHARED, ROWS = torch.rand(4, 4), torch.rand(4, 4)


@pytest.mark.parametrize(
    "inputs",
    [
        pytest.param(([X, X],), id="one object twice"),
        pytest.param(([X, X.view(2, 4)],), id="a view of the other"),
        pytest.param(([ROWS[0:2], ROWS[2:4]],), id="apart in one storage"),
        pytest.param(([ROWS[0:2], ROWS[1:3]],), id="overlapping"),
        pytest.param(([torch.rand(4, 2).t(), torch.rand(2, 4)],), id="strides"),
        pytest.param(([torch.rand(2, 5), torch.rand(2, 4)],), id="sizes"),
        pytest.param(([torch.rand(2, 4).double(), torch.rand(2, 4)],), id="dtype"),
        pytest.param(([leaf(2, 4), torch.rand(2, 4)],), id="requires grad"),
        pytest.param(([leaf(2, 4).clone(), torch.rand(2, 4)],), id="no leaf"),
        pytest.param(([nn.Parameter(torch.rand(2, 4)), torch.rand(2, 4)],), id="parameter"),
        pytest.param(([leaf(2, 4)[:], torch.rand(2, 4)],), id="differentiable view"),
        pytest.param(([leaf(2, 4).detach()[:], torch.rand(2, 4)],), id="view of what needs no gradient"),
        pytest.param(([torch.rand(2, 4), 3],), id="number"),
        pytest.param(([torch.rand(2, 4), 3.0],), id="float"),
        pytest.param(([torch.rand(2, 4), True],), id="truth value"),
        pytest.param(([torch._neg_view(torch.rand(2, 4)), torch.rand(2, 4)],), id="negated"),
    ],
)
def test_other_arguments_are_another_text(inputs):
    """Catches a program that was traced for arguments of other sizes, histories, or ways of sharing memory."""
    function = operator.add
    gm = torch.fx.symbolic_trace(lambda x, y: function(x, y))
    plain = call_text(gm, [torch.rand(2, 4), torch.rand(2, 4)])
    assert call_text(gm, *inputs) != plain
    assert call_text(gm, [torch.rand(2, 4), torch.rand(2, 4)]) == plain


def test_retained_gradients_are_another_text():
    """Catches a capture's refusal of what retains its gradient that a hit would pass over."""
    made = [leaf(2).clone() for _ in range(2)]
    made[1].retain_grad()
    gm = graph(torch.sin)
    assert call_text(gm, made[:1]) != call_text(gm, made[1:])


def default_dtype():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    return lambda: torch.set_default_dtype(before)


def deterministic():
    torch.use_deterministic_algorithms(True)
    return lambda: torch.use_deterministic_algorithms(False)


def without_flash():
    torch.backends.cuda.enable_flash_sdp(False)
    return lambda: torch.backends.cuda.enable_flash_sdp(True)


def halves_summed_as_they_are():
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    return lambda: torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)


def entered(context):
    context.__enter__()
    return lambda: context.__exit__(None, None, None)


@pytest.mark.parametrize(
    "change",
    [
        default_dtype,
        deterministic,
        without_flash,
        halves_summed_as_they_are,
        pytest.param(lambda: entered(torch.backends.cudnn.flags(enabled=True, allow_tf32=False)), id="no TF32"),
        pytest.param(lambda: entered(torch.no_grad()), id="no_grad"),
        pytest.param(lambda: entered(torch.inference_mode()), id="inference_mode"),
        pytest.param(lambda: entered(torch.autocast("cpu", torch.bfloat16)), id="autocast"),
        pytest.param(lambda: entered(torch.autocast("cpu", torch.float16)), id="autocast to float16"),
    ],
)
def test_another_mode_is_another_text(change):
    """Catches a program that was traced under another mode or switch of PyTorch's.

    One that sums halves in half precision was run where float32 sums them, and the other way round.
    """
    plain = call_text(graph(torch.sin), [X])
    restore = change()
    try:
        changed = call_text(graph(torch.sin), [X])
    finally:
        restore()
    assert changed != plain == call_text(graph(torch.sin), [X])


def test_another_source_line_is_another_text():
    """Catches messages and pictures that name a line of the program as it was."""
    gm = graph(torch.sin)
    plain = call_text(gm, [X])
    for node in gm.graph.nodes:
        node.meta["stack_trace"] = '  File "model.py", line 7, in forward\n    return x.sin()'
    assert call_text(gm, [X]) != plain


def of_the_user(x):
    return x + 1


@torch.library.custom_op("dovetail_test::keyed", mutates_args=())
def keyed(x: torch.Tensor) -> torch.Tensor:
    return x + 1


class Wrapper(torch.Tensor):
    pass


@pytest.mark.parametrize(
    ("gm", "inputs", "why"),
    [
        pytest.param(
            graph(of_the_user), [X], "of_the_user is a function in Python that is not PyTorch's", id="function"
        ),
        pytest.param(
            graph(torch.ops.dovetail_test.keyed.default),
            [X],
            "dovetail_test.keyed.default is a custom operator",
            id="operator",
        ),
        pytest.param(
            graph(torch.ops.higher_order.cond),
            [X],
            "cond has a graph or a function of its own",
            id="higher-order operator",
        ),
        pytest.param(graph(torch.add, object()), [X], "a node takes a object", id="object"),
        pytest.param(graph(torch.add, float("nan")), [X], "a number is NaN", id="NaN"),
        pytest.param(graph(torch.sin), [X.as_subclass(Wrapper)], "an argument is a Wrapper", id="subclass"),
        pytest.param(graph(torch.sin), ["text"], "an argument is a str", id="text"),
        pytest.param(graph(torch.sin), [X.to_sparse()], "an argument of layout torch.sparse_coo on cpu", id="layout"),
        pytest.param(graph(torch.sin), [torch.empty(2, device="meta")], "layout torch.strided on meta", id="device"),
    ],
)
def test_what_text_cannot_tell_has_none(gm, inputs, why):
    """Catches a program found again by the name of something that may have changed behind it."""
    with pytest.raises(Unkeyed) as raised:
        call_text(gm, inputs)
    assert why in str(raised.value)


def test_a_function_that_takes_the_name_of_pytorchs_has_none(monkeypatch):
    """Catches a user's function that stands in PyTorch's place, and says that it is PyTorch's."""
    of_the_user.__module__, of_the_user.__qualname__ = "torch", "relu"
    monkeypatch.setattr(torch, "relu", of_the_user)
    with pytest.raises(Unkeyed, match="is a function in Python"):
        call_text(graph(torch.relu), [X])
    monkeypatch.setattr(torch.Tensor, "relu", of_the_user)
    with pytest.raises(Unkeyed, match="'relu' is no method of PyTorch's own"):
        text(lambda x: x.relu(), X)
    monkeypatch.setattr(torch.Tensor, "mT", property(of_the_user))
    with pytest.raises(Unkeyed, match="'mT' is no method of PyTorch's own"):
        text(lambda x: x.mT, X)


def test_a_kernel_of_the_users_for_an_op_has_none():
    """Catches an op of ATen's that does something else now."""
    with torch.library._scoped_library("aten", "IMPL") as library:
        library.impl("special_zeta", lambda x, y: x, "CPU")
        with pytest.raises(Unkeyed, match="aten::special_zeta has a kernel in Python for CPU"):
            call_text(graph(torch.sin), [X])
    assert call_text(graph(torch.sin), [X])


def test_kernels_that_pytorch_adds_at_its_first_vmap_are_its_own():
    """Programs were never found again once `torch.vmap` had run in the process."""
    torch.vmap(torch.sin)(X)
    assert any(kernel.endswith("/FuncTorchBatched") for kernel in torch.library._impls)
    assert call_text(graph(torch.sin), [X])


def sine(x):
    return x.sin()


def test_what_is_set_as_it_was_is_no_other_text():
    """Would catch a program that a second process does not find, since the first one had traced another graph."""
    before = text(sine, X)
    with functorch_config.patch(guess_tangent_strides_as_outputs=functorch_config.guess_tangent_strides_as_outputs):
        assert text(sine, X) == before
    assert text(sine, X) == before


def test_a_function_in_pytorchs_configuration_has_none():
    """Would catch a function that is told by its address, where another process has another one."""
    with (
        functorch_config.patch(joint_custom_pass=lambda graph: graph),
        pytest.raises(Unkeyed, match="joint_custom_pass"),
    ):
        text(sine, X)


def test_a_mode_of_torch_function_has_none():
    """Catches a mode whose Python decides what the ops of a graph do."""
    with torch.overrides.BaseTorchFunctionMode(), pytest.raises(Unkeyed, match="a mode of __torch_function__"):
        call_text(graph(torch.sin), [X])


def test_a_level_of_forward_mode_has_none():
    """Catches a program traced inside of a level, where nothing is copied for views, that is run outside of it."""
    with torch.autograd.forward_ad.dual_level(), pytest.raises(Unkeyed, match="a level of forward-mode derivatives"):
        call_text(graph(torch.sin), [X])
    assert call_text(graph(torch.sin), [X])


def test_a_package_whose_name_begins_as_pytorchs_has_none(monkeypatch):
    """Catches a method of another package, such as torchvision, taken for one of PyTorch's."""
    elsewhere: dict = {}
    path = str(Path(torch.__file__).parent) + "vision/ops.py"
    exec(compile("def relu(x):\n    return x", path, "exec"), elsewhere)
    monkeypatch.setattr(torch.Tensor, "relu", elsewhere["relu"])
    with pytest.raises(Unkeyed, match="'relu' is no method of PyTorch's own"):
        text(lambda x: x.relu(), X)

"""Ops on lists of tensors, which optimizers and gradient clipping use."""

import copy

import pytest
import torch

from dovetail.errors import EagerWarning
from dovetail.frontend.decompose.foreach import foreach_decompositions
from dovetail.frontend.observe import step_facts, untraceable


def test_every_overload_gives_what_aten_gives():
    """Catches a scalar that reaches the wrong argument, and a list that is not taken apart."""
    values = {
        "Tensor[]": [torch.rand(3) + 0.5, torch.rand(2, 2) + 0.5],
        "Scalar[]": [2.0, 3.0],
        "Tensor": torch.tensor(2.0),
    }
    for overload, decomposed in foreach_decompositions().items():
        arguments = []
        for argument in overload._schema.arguments:
            kind = str(argument.real_type).replace("List[Tensor]", "Tensor[]").replace("List[number]", "Scalar[]")
            if argument.has_default_value():
                break
            arguments.append(values.get(kind, 2.0))
        torch.testing.assert_close(decomposed(*arguments), list(overload(*arguments)), equal_nan=True)


def test_lists_of_tensors_written_in_place():
    """Catches a bare importer error in place of a compiled optimizer."""

    def fn(x, y):
        torch._foreach_mul_([x, y], [2.0, 3.0])
        torch._foreach_addcdiv_([x, y], [x + 1, y + 2], [x + 4, y + 4], 0.5)
        return torch._foreach_norm([x, y])

    written, expected = ([torch.arange(4.0), torch.ones(3)] for _ in range(2))
    norms = torch.compile(fn, backend="dovetail", fullgraph=True)(*written)
    torch.testing.assert_close(norms, fn(*expected))
    torch.testing.assert_close(written, expected)


WRITES = {
    "each reads the other": (lambda a, b, _: torch._foreach_add_([a, b], [b, a]), "reads memory that it has written"),
    "the later reads the earlier": (lambda a, b, c: torch._foreach_mul_([a, b], [c, a]), "reads memory that"),
    "copies in a ring": (lambda a, b, c: torch._foreach_copy_([a, b, c], [b, c, a]), "reads memory that"),
    "twice": (lambda a, b, _: torch._foreach_add_([a, b, a], 1), "writes the same memory more than once"),
    "parts that meet": (lambda a, *_: torch._foreach_mul_([a[:3], a[2:]], 3), "reads a part of what"),
    "halves read each other": (lambda a, *_: torch._foreach_add_([a[:2], a[2:]], [a[2:], a[:2]]), "reads memory that"),
}


@pytest.mark.parametrize("case", WRITES)
def test_writes_in_the_order_of_a_loop(case, op_by_op):
    """Catches an op that reads for each tensor what was there before all writes, in place of what eager's loop left."""
    write, reason = WRITES[case]
    expected, actual = ([torch.arange(4.0) + place for place in (1, 2, 3)] for _ in range(2))
    with pytest.warns(EagerWarning, match=reason):
        torch.compile(write, backend="dovetail")(*actual)
    write(*expected)
    torch.testing.assert_close(actual, expected)


def test_a_tensor_of_nothing_that_is_listed_twice(op_by_op):
    """Catches a version that moves once where eager's loop writes a tensor, which has no element to meet, twice."""
    expected, actual = torch.ones(0), torch.ones(0)

    def write(x: torch.Tensor) -> None:
        torch._foreach_mul_([x, x], [x, x])

    with pytest.warns(EagerWarning, match="writes the same memory more than once"):
        torch.compile(write, backend="dovetail")(actual)
    write(expected)
    assert actual._version == expected._version


KEPT = {
    "halves": lambda a, *_: torch._foreach_add_([a[:2], a[2:]], 1),
    "halves and others": lambda a, b, _: torch._foreach_mul_([a[:2], a[2:]], [b[:2], b[1:3]]),
    "the earlier reads the later": lambda a, b, c: torch._foreach_add_([a, b], [b, c]),
    "itself": lambda a, b, _: torch._foreach_mul_([a, b], [a, b]),
    "every second": lambda a, *_: torch._foreach_sub_([a[::2], a[1::2]], [a[::2], a[1::2]]),
}


@pytest.mark.parametrize("case", KEPT)
def test_writes_whose_order_tells_nothing(case, op_by_op, recwarn):
    """Catches an optimizer of parameters that are parts of one buffer, or one like it, that runs eagerly.

    And a version counter that moves once where each of its parts is written.
    """
    expected, actual = ([torch.arange(4.0) + place for place in (1, 2, 3)] for _ in range(2))
    torch.compile(KEPT[case], backend="dovetail")(*actual)
    KEPT[case](*expected)
    torch.testing.assert_close(actual, expected)
    assert [each._version for each in actual] == [each._version for each in expected]
    assert not [each for each in recwarn if issubclass(each.category, EagerWarning)]


def test_gradient_clipping():
    """Catches a training step that can't be compiled for want of one utility."""
    model = torch.nn.Linear(4, 3)
    twin = copy.deepcopy(model)
    norms = []
    for each, compile_it in ((model, True), (twin, False)):
        each(torch.ones(2, 4)).square().sum().backward()
        clip = torch.nn.utils.clip_grad_norm_
        clip = torch.compile(clip, backend="dovetail") if compile_it else clip
        norms.append(clip(list(each.parameters()), 0.5))
    torch.testing.assert_close(norms[0], norms[1])
    torch.testing.assert_close([p.grad for p in model.parameters()], [p.grad for p in twin.parameters()])


def test_parts_of_one_buffer_are_compared_with_those_they_meet(op_by_op, monkeypatch):
    """Catches a compilation that compares each of an optimizer's parameters with all others: minutes for thousands."""
    compared = []
    for module, name in ((untraceable, "share_elements"), (step_facts, "may_share_elements")):
        real = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *two, real=real: compared.append(two) or real(*two))

    def fn(buffer, gradient):
        torch._foreach_add_(buffer.split(2), gradient.split(2))

    (buffer, gradient), (expected, _) = ([torch.arange(128.0), torch.ones(128)] for _ in range(2))
    torch.compile(fn, backend="dovetail")(buffer, gradient)
    fn(expected, gradient)
    torch.testing.assert_close(buffer, expected)
    assert len(compared) <= 2 * 64

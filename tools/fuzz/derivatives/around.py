"""Derivatives that a caller asks for around the call: forward mode, Jacobians, Hessians, transforms of `torch.func`."""

from functools import partial

import torch
from torch.autograd import forward_ad, functional

from dovetail.tools.fuzz.derivatives.called import Called, direction, directions
from dovetail.tools.fuzz.derivatives.reverse import Found

_ROWS = 3  # of a Jacobian


def dual(called: Called) -> Found:
    """`torch.autograd.forward_ad.dual_level`, with the arguments as they are: plain ones, and such as require grad."""
    with forward_ad.dual_level():
        given = [called.arguments[index] for index in called.real()]
        results = called.again(*map(forward_ad.make_dual, given, directions(given)))
        unpacked = [forward_ad.unpack_dual(result) for result in results]
    for index, each in enumerate(unpacked):
        yield f"primal of result {index}", each.primal
        yield f"tangent of result {index}", each.tangent


def jvp(called: Called) -> Found:
    """`torch.func.jvp`."""
    given = _given(called)
    results, tangents, *_ = torch.func.jvp(  # with `has_aux`, which this has not, it returns three
        lambda *values: tuple(called.again(*values)), tuple(given), tuple(directions(given))
    )
    for index, (result, tangent) in enumerate(zip(results, tangents, strict=True)):
        yield f"primal of result {index}", result
        yield f"tangent of result {index}", tangent


def vjp(called: Called) -> Found:
    """`torch.func.vjp`."""
    results, pull, *_ = torch.func.vjp(lambda *values: tuple(called.again(*values)), *_given(called))
    for index, gradient in enumerate(pull(tuple(directions([*results])))):
        yield f"vjp by {index}", gradient


def vmap_of_grad(called: Called) -> Found:
    """`torch.func.vmap` around `torch.func.grad`: gradients by sample."""
    given = _given(called)
    samples = [torch.stack([each, each * 0.5]) for each in given]
    found = torch.func.vmap(torch.func.grad(called.total, argnums=tuple(range(len(given)))), randomness="different")
    for index, gradient in enumerate(found(*samples)):
        yield f"by sample, by {index}", gradient


def jacobian(called: Called) -> Found:
    """`torch.autograd.functional.jacobian(vectorize=True)` of some elements."""
    found = functional.jacobian(partial(_rows, called), tuple(_given(called)), vectorize=called.in_batches)
    for index, each in enumerate(found):
        yield f"Jacobian by {index}", each


def jacobian_forward(called: Called) -> Found:
    """`torch.autograd.functional.jacobian(vectorize=True, strategy="forward-mode")`, along two directions."""
    along = torch.zeros(2, dtype=_given(called)[0].dtype)
    yield (
        "Jacobian, forward",
        functional.jacobian(
            lambda steps: _rows(called, *_moved(called, steps)), along, vectorize=True, strategy="forward-mode"
        ),
    )


def hessian(called: Called) -> Found:
    """`torch.autograd.functional.hessian(vectorize=True)`, along two directions."""
    along = torch.zeros(2, dtype=_given(called)[0].dtype)
    found = functional.hessian(lambda steps: called.total(*_moved(called, steps)), along, vectorize=called.in_batches)
    yield "Hessian", found


def hvp(called: Called) -> Found:
    """`torch.autograd.functional.hvp`: a double backward."""
    given = _given(called)
    _, found = functional.hvp(called.total, tuple(given), tuple(directions(given)))
    for index, each in enumerate(found):
        yield f"Hessian times a direction, by {index}", each


def _given(called: Called) -> list[torch.Tensor]:
    return [called.arguments[index].detach() for index in called.real()]


def _moved(called: Called, steps: torch.Tensor) -> list[torch.Tensor]:
    """The arguments, so many steps along two directions."""
    first, second = steps.unbind()
    return [
        each + first.to(each.dtype) * direction(each, 1) + second.to(each.dtype) * direction(each, 2)
        for each in _given(called)
    ]


def _rows(called: Called, *values: torch.Tensor) -> torch.Tensor:
    """The first elements of the results, in one row."""
    return torch.cat([each.reshape(-1)[:_ROWS].to(torch.float64) for each in called.again(*values)])

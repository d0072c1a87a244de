"""Gradients that a caller asks for after the call: of some results, differentiated again, or a batch of them."""

from collections.abc import Iterable, Iterator, Sequence

import torch

from dovetail.tools.fuzz.derivatives.called import Called, batch, directions

Found = Iterator[tuple[str, torch.Tensor | None]]


def some(called: Called) -> Found:
    """`backward` from some of the results, then from the others."""
    for name, results in (("some", called.chosen()), ("others", called.others())):
        if results:
            torch.autograd.backward(results, directions(results), retain_graph=True)
            yield from _named(name, called, [each.grad for each in called.inputs.values() if each.is_leaf], leaves=True)


def grad(called: Called) -> Found:
    """`torch.autograd.grad` of some results: None, or zeros."""
    if called.chosen() and called.inputs:
        yield from _named("grad", called, _grad(called, directions(called.chosen())))


def second(called: Called) -> Found:
    """`create_graph` from some results, and the gradients of these gradients."""
    yield from _twice(called, directions(called.chosen()), is_batched=False)


def batched(called: Called) -> Found:
    """`is_grads_batched=True`, for some results."""
    if called.chosen() and called.inputs:
        yield from _named("batched", called, _batch(called, batch(called.chosen())))


def batched_second(called: Called) -> Found:
    """`is_grads_batched=True` with `create_graph`, and the gradients of the batch."""
    yield from _twice(called, batch(called.chosen()), is_batched=True)


def vmap(called: Called) -> Found:
    """`torch.func.vmap` around `torch.autograd.grad`."""
    if not (called.chosen() and called.inputs):
        return
    is_none: list[bool] = []

    def of(*tangents: torch.Tensor) -> tuple[torch.Tensor, ...]:
        found = _grad(called, tangents, retain_graph=True)
        is_none[:] = [each is None for each in found]
        return tuple(torch.zeros(()) if each is None else each for each in found)

    tangents = batch(called.chosen())
    found = (
        torch.func.vmap(of)(*tangents)
        if called.in_batches
        else _stacked(of(*each) for each in zip(*tangents, strict=True))
    )
    yield from _named("vmap", called, [None if none else each for none, each in zip(is_none, found, strict=True)])


def _twice(called: Called, tangents: Sequence[torch.Tensor], is_batched: bool) -> Found:
    if not (called.chosen() and called.inputs):
        return
    take = _batch if is_batched else _grad
    first = take(called, tangents, create_graph=True)
    yield from _named("first", called, [None if each is None else each.detach() for each in first])
    given = [each for each in first if each is not None]
    again = [(each, along) for each, along in zip(given, directions(given, 5), strict=True) if _hangs(called, each)]
    if again:
        yield from _named("second", called, _gradients(called, *zip(*again, strict=True)))


def _hangs(called: Called, gradient: torch.Tensor) -> bool:
    """Whether a gradient hangs on anything.

    One that does not has zeros as its own or requires none, as it is taken apart (docs/limits.md): of a `leaky_relu`.
    """
    found = _gradients(called, [gradient], directions([gradient])) if gradient.requires_grad else []
    return any(each is not None and bool(each.any()) for each in found)


def _gradients(
    called: Called, of: Sequence[torch.Tensor], along: Sequence[torch.Tensor]
) -> tuple[torch.Tensor | None, ...]:
    return torch.autograd.grad(of, [*called.inputs.values()], along, retain_graph=True, allow_unused=True)


def _batch(called: Called, tangents: Sequence[torch.Tensor], **options: bool) -> Sequence[torch.Tensor | None]:
    options["retain_graph"] = True  # what batches refuse is computed one by one
    if called.in_batches:
        return _grad(called, tangents, is_grads_batched=True, **options)
    return _stacked(_grad(called, each, **options) for each in zip(*tangents, strict=True))


def _stacked(rows: Iterable[Sequence[torch.Tensor | None]]) -> list[torch.Tensor | None]:
    return [None if each[0] is None else torch.stack(each) for each in zip(*rows, strict=True)]


def _grad(called: Called, tangents: Sequence[torch.Tensor], **options: bool) -> tuple[torch.Tensor | None, ...]:
    return torch.autograd.grad(called.chosen(), [*called.inputs.values()], tangents, allow_unused=True, **options)


def _named(what: str, called: Called, gradients: Sequence[torch.Tensor | None], leaves: bool = False) -> Found:
    names = [name for name, each in called.inputs.items() if each.is_leaf or not leaves]
    yield from zip((f"{what} of {name}" for name in names), gradients, strict=True)

"""Runs a function eagerly and compiled on equal inputs and compares everything that the caller can observe."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

import dovetail
from dovetail.torch_backend import dovetail as backend


@dataclass(frozen=True)
class Observed:
    """What one call left behind: facts that must be equal, and values that must be close, both with names."""

    facts: dict[str, Any]
    values: dict[str, torch.Tensor]


def assert_same(
    fn: Callable,
    *args,
    prepare: Callable | None = None,
    then: Callable | None = None,
    train: bool = True,
    calls: int = 2,
    later: Sequence[Sequence] = (),
    graphs: int = 1,
    eager: bool = False,
    compiler: Callable | None = None,
    **compile_arguments,
) -> None:
    """Asserts that `torch.compile(fn)` can't be told from `fn` on copies of `args`, in `calls` calls.

    Args:
        fn: a function or a module; a module's parameters and buffers are observed too.
        args: leaves and other values. Later calls get the same floats, halved.
        prepare: makes the call's arguments (non-leaves, views) from the copies of `args`, eagerly.
        then: called with (outputs, arguments) after each call, to use them in place; what it returns is observed too.
        train: whether to run a backward from all differentiable outputs and mutated arguments.
        later: what later calls get in place of `args`, each in turn.
        graphs: how many graphs Dovetail must at least have compiled, so that nothing is compared with itself.
        eager: whether Dovetail is expected to say that it runs something eagerly.
        compiler: compiles `fn` in place of `torch.compile` with `compile_arguments`; see `without_dynamo`.
    """
    torch._dynamo.reset()
    compiled_fn = copy.deepcopy(fn)
    compile_arguments = {"backend": "dovetail", "fullgraph": True, **compile_arguments}
    compiled = compiler(compiled_fn) if compiler else torch.compile(compiled_fn, **compile_arguments)
    before = dovetail.stats()
    for call, given in enumerate([args] * calls if not later else [args, *later]):
        inputs = [_fresh(given, call) for _ in range(2)]
        expected = observe(fn, inputs[0], prepare, then, train, _state(fn))
        actual = observe(compiled, inputs[1], prepare, then, train, _state(compiled_fn))
        compare(f"call {call}", expected, actual)
    after = dovetail.stats()
    compiled_graphs = after.graphs - before.graphs
    ran_eagerly = after.eager - before.eager
    assert compiled_graphs >= graphs, (
        f"expected {graphs} compiled graphs at least, got {compiled_graphs}: {ran_eagerly}"
    )
    assert bool(ran_eagerly) == eager, f"expected {'an eager path' if eager else 'no eager path'}, got {ran_eagerly}"


def without_dynamo(fn: Callable) -> Callable:
    """Compiles `fn` at its first call from a plain FX trace, for what Dynamo never puts into a graph."""
    compiled: list[Callable] = []

    def run(*arguments):
        if not compiled:
            compiled.append(backend(torch.fx.symbolic_trace(fn), arguments))
        results = compiled[0](*arguments)
        return results[0] if len(results) == 1 else tuple(results)

    return run


def observe(
    fn: Callable, leaves: Sequence, prepare: Callable | None, then: Callable | None, train: bool, state: dict
) -> Observed:
    """Calls `fn` and, with `train`, runs the backward; returns what the caller sees."""
    arguments = list(leaves) if prepare is None else list(prepare(*leaves))
    named_arguments = _named("argument", arguments) | _named("leaf", leaves) | state
    versions = {name: _version(tensor) for name, tensor in named_arguments.items()}
    seed(7)
    outputs = fn(*arguments)
    facts: dict[str, Any] = {"outputs": _structure(outputs), "random state": random_state()}
    facts |= _facts("called", _named("output", outputs) | named_arguments)
    facts |= {f"{name} version": _version(each) - versions[name] for name, each in named_arguments.items()}
    values = {name: tensor.detach().clone() for name, tensor in (_named("output", outputs) | named_arguments).items()}
    extra = then(outputs, arguments) if then is not None else None
    everything = _named("output", outputs) | _named("then", extra) | named_arguments
    facts |= _facts("used", everything)
    if train:
        _backward(everything)
    for name, tensor in everything.items():
        values[f"{name} at the end"] = tensor.detach().clone()
        if tensor.is_leaf:
            facts[f"{name} has a gradient"] = tensor.grad is not None
            if tensor.grad is not None:
                values[f"gradient of {name}"] = tensor.grad.clone()
    return Observed(facts, values)


def seed(number: int) -> None:
    """Seeds the generators of the CPU and of the GPUs that there are."""
    torch.default_generator.manual_seed(number)  # the quicker way; see test/conftest.py
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)


def random_state() -> list[int]:
    """Tells apart the states that the generators of all devices can have."""
    states = [torch.get_rng_state(), *(torch.cuda.get_rng_state_all() if torch.cuda.is_available() else ())]
    return [each.sum().item() for each in states]


def _version(tensor: torch.Tensor) -> int:
    """How often autograd saw it written; inference tensors don't count."""
    return 0 if tensor.is_inference() else tensor._version


def compare(where: str, expected: Observed, actual: Observed) -> None:
    differences = [
        f"{name}: eager {expected.facts.get(name)}, compiled {actual.facts.get(name)}"
        for name in {**expected.facts, **actual.facts}
        if actual.facts.get(name) != expected.facts.get(name)
    ]
    for name in {**expected.values, **actual.values}:
        if name not in expected.values or name not in actual.values:
            differences.append(f"{name}: {'compiled' if name in actual.values else 'eager'} code alone has it")
            continue
        try:
            _assert_close(actual.values[name], expected.values[name])
        except AssertionError as error:
            differences.append(f"{name}: {error}")
    assert not differences, f"{where}:\n" + "\n".join(differences)


def _assert_close(actual: torch.Tensor, expected: torch.Tensor) -> None:
    """Single precision gets room for sums in another order."""
    tolerance = {"rtol": 1e-4, "atol": 2e-5} if expected.dtype is torch.float32 else {}
    torch.testing.assert_close(actual, expected, equal_nan=True, **tolerance)


def _facts(when: str, tensors: dict[str, torch.Tensor]) -> dict[str, Any]:
    """Types, layouts, autograd's view of each tensor; who is who, and who shares memory with whom."""
    facts: dict[str, Any] = {}
    objects: dict[int, str] = {}
    storages: dict[int, str] = {}
    for name, tensor in tensors.items():
        shown = {
            "dtype": tensor.dtype,
            "lazy": (tensor.is_conj(), tensor.is_neg()),
            "device": tensor.device,
            "size": tuple(tensor.shape),
            "stride": tensor.stride(),
            "offset": tensor.storage_offset(),
            "requires_grad": tensor.requires_grad,
            "is_leaf": tensor.is_leaf,
            "is_inference": tensor.is_inference(),
            "type": type(tensor),
            "object": objects.setdefault(id(tensor), name),
            "memory": storages.setdefault(tensor.untyped_storage()._cdata, name),
            "base": _argument_name(objects, tensor._base) if tensor._is_view() else None,
        }
        facts |= {f"{when}, {what} of {name}": fact for what, fact in shown.items()}
    return facts


def _argument_name(objects: dict[int, str], base: torch.Tensor | None) -> str | None:
    """Who a view's base is, where the caller has it; intermediate bases are nobody's business."""
    name = objects.get(id(base), "output")
    return None if name.startswith("output") else name


def _backward(tensors: dict[str, torch.Tensor]) -> None:
    """Sums every differentiable tensor with weights of its own, so that exchanged gradients show."""
    total = torch.zeros((), dtype=torch.float64)
    seen: set[int] = set()
    for number, tensor in enumerate(tensors.values()):
        if tensor.grad_fn is None or not tensor.is_floating_point() or id(tensor) in seen:
            continue
        seen.add(id(tensor))
        weights = torch.arange(1, tensor.numel() + 1, dtype=torch.float64, device=tensor.device).reshape(tensor.shape)
        weighted = (tensor.double() * (weights / max(tensor.numel(), 1) + number)).sum()
        total = total + weighted.to(total.device)
    if total.requires_grad:
        total.backward()


def _named(prefix: str, tree) -> dict[str, torch.Tensor]:
    return {
        f"{prefix} {index}": each for index, each in enumerate(tree_flatten(tree)[0]) if isinstance(each, torch.Tensor)
    }


def _structure(outputs) -> tuple:
    flat, spec = tree_flatten(outputs)
    return str(spec), [type(each) if isinstance(each, torch.Tensor) else (type(each), each) for each in flat]


def _state(fn) -> dict[str, torch.Tensor]:
    if not isinstance(fn, torch.nn.Module):
        return {}
    state = dict(fn.named_parameters()) | dict(fn.named_buffers())
    for tensor in state.values():
        tensor.grad = None
    return {f"module's {name}": tensor for name, tensor in state.items()}


def _fresh(args: Sequence, call: int) -> list:
    """Copies with equal strides, offsets and sharing; floats are halved for each call that went before."""
    copies = copy.deepcopy(list(args))
    storages = {
        each.untyped_storage()._cdata: each
        for each in tree_flatten(copies)[0]
        if isinstance(each, torch.Tensor) and each.is_floating_point()
    }
    for tensor in storages.values():
        torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(tensor.untyped_storage()).mul_(0.5**call)
    return copies

"""One call, and everything that its caller can observe of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from dovetail.tools.fuzz import settings
from dovetail.tools.fuzz.derivatives import uses
from dovetail.tools.fuzz.derivatives.called import Called
from dovetail.tools.fuzz.leaks import Watched, watched
from dovetail.tools.fuzz.world import World, in_mode

Key = tuple[str, str]


@dataclass
class Observed:
    """Facts that must be equal and values that must be close, by (kind, what).

    Attributes:
        raised: what the call itself raised; nothing else but `held` is observed then.
        held: what each argument held before such a call, and after it.
        watched: what the caller drops when all is observed.
    """

    facts: dict[Key, Any] = field(default_factory=dict)
    values: dict[Key, torch.Tensor] = field(default_factory=dict)
    raised: Exception | None = None
    held: dict[str, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)
    watched: Watched = field(default_factory=Watched)


def observe(world: World, fn: Callable, number: int, parameters: list[str], mode: str, backward: str) -> Observed:
    """Calls `fn`, the world's function or a compiled form of it, and looks at everything, three times.

    After the call; after the caller's later writes; after the backward.
    """
    seen = Observed()
    state = world.state()
    with in_mode(mode if mode == "torch.inference_mode()" else ""):  # so that these arguments are inference tensors
        inputs = world.inputs(number)
    arguments = [inputs[name] for name in parameters]
    known = state | {name: each for name, each in inputs.items() if isinstance(each, torch.Tensor)}
    versions = {name: _version(each) for name, each in known.items()}
    _seed(number)
    with in_mode(mode), settings.kept():
        try:
            results = fn(*arguments)
        except Exception as error:
            seen.raised = error
            anew = world.inputs(number)
            tensors = [name for name in parameters if name in known]
            seen.held = {name: (anew[name].detach(), inputs[name].detach()) for name in tensors}
            return seen
        seen.facts |= {("setting", name): value for name, value in settings.read().items()}
    flat, spec = tree_flatten(results)
    outputs = {f"output {index}": each for index, each in enumerate(flat) if isinstance(each, torch.Tensor)}
    seen.facts["structure", "outputs"] = (str(spec), [_plain(each) for each in flat])
    seen.facts["random", "generator's state"] = hash(bytes(torch.get_rng_state().tolist()))
    named = known | outputs
    _look(seen, "called", named, known)
    for name, before in versions.items():
        after = _version(known[name])
        seen.facts["version", name] = None if before is None or after is None else after - before
    if world.writes_later(number):
        _attempt(seen, "later writes", lambda: world.later(number, list(outputs.values()), arguments))
        _look(seen, "written", named, known)
    seen.watched = watched({name: each for name, each in named.items() if name not in state}, state.values())
    if backward != "none":
        use = uses.read(backward)
        if use is None:
            _attempt(seen, "backward", lambda: _backward(named, double=backward == "double"))
        else:
            way, of = use
            inputs = {name: each for name, each in known.items() if each.requires_grad}
            called = Called(fn, arguments, list(outputs.values()), inputs, of, uses.is_in_batches(backward))
            _attempt(seen, "backward", lambda: _derivatives(seen, way, called))
        _gradients(seen, named)
        seen.facts["random", "generator's state, after the backward"] = hash(bytes(torch.get_rng_state().tolist()))
    return seen


def _seed(number: int) -> None:
    """As `torch.manual_seed`, which keeps the stack of its caller for each kind of device, though there be none."""
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(number)


def _attempt(seen: Observed, what: str, act: Callable[[], None]) -> None:
    """Whether it raises is a fact; the message is kept beside it, for people."""
    try:
        act()
    except Exception as error:
        seen.facts["raised", what] = True
        seen.facts["note", what] = _without_frames(error)
    else:
        seen.facts["raised", what] = False


def _without_frames(error: BaseException) -> BaseException:
    """The error, and those that led to it, which no longer hold the variables of who raised them."""
    error.__traceback__ = None
    for earlier in (error.__cause__, error.__context__):
        if earlier is not None and earlier.__traceback__ is not None:
            _without_frames(earlier)
    return error


def _look(seen: Observed, when: str, tensors: dict[str, torch.Tensor], known: dict[str, torch.Tensor]) -> None:
    """Values and layouts; who is who, who shares memory with whom, and what autograd thinks."""
    objects: dict[int, str] = {}
    storages: dict[int, str] = {}
    for name, tensor in tensors.items():
        what = f"{name}, {when}"
        seen.values["value", what] = tensor.detach().clone()
        seen.facts["type", what] = (type(tensor), tensor.dtype)
        seen.facts["layout", what] = (tuple(tensor.shape), _strides(tensor), tensor.storage_offset())
        seen.facts["identity", what] = objects.setdefault(id(tensor), name)
        seen.facts["alias", what] = storages.setdefault(tensor.untyped_storage()._cdata, name)
        seen.facts["requires_grad", what] = (tensor.requires_grad, tensor.is_inference())
        seen.facts["requires_grad", f"{what}, is leaf"] = is_leaf(tensor)
        seen.facts["base", what] = _base(tensor, known)


def _strides(tensor: torch.Tensor) -> tuple[int | None, ...]:
    """Strides where they mean something: PyTorch itself gives others to tensors that are only being traced."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return tuple(stride if size > 1 and tensor.numel() else None for size, stride in sizes)


def is_leaf(tensor: torch.Tensor) -> bool | None:
    """None where a view's history may not be asked for: it was made under `no_grad`, then its base was written."""
    try:
        return tensor.is_leaf
    except RuntimeError:
        return None


def _base(tensor: torch.Tensor, known: dict[str, torch.Tensor]) -> Any:
    """The name of a known tensor; an intermediate is known by its shape."""
    base = tensor._base
    if base is None:
        return None
    names = [name for name, each in known.items() if each is base]
    return names[0] if names else tuple(base.shape)


def _version(tensor: torch.Tensor) -> int | None:
    """None for inference tensors, which don't count."""
    return None if tensor.is_inference() else tensor._version


def _plain(value) -> Any:
    return "tensor" if isinstance(value, torch.Tensor) else value


def _backward(tensors: dict[str, torch.Tensor], double: bool) -> None:
    """Sums what is differentiable with weights of its own, so that exchanged gradients show."""
    total = torch.zeros((), dtype=torch.float64)
    seen: set[int] = set()
    for number, tensor in enumerate(tensors.values()):
        if tensor.grad_fn is None or id(tensor) in seen:
            continue
        seen.add(id(tensor))
        real = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
        weights = torch.arange(1, real.numel() + 1, dtype=torch.float64).reshape(real.shape) / max(real.numel(), 1)
        flat = real.double()
        total = total + ((flat * flat if double else flat) * (weights + number)).sum()
    if not total.requires_grad:
        return
    if not double:
        total.backward()
        return
    leaves = [each for each in tensors.values() if each.is_leaf and each.requires_grad]
    first = torch.autograd.grad(total, leaves, create_graph=True, allow_unused=True)
    squares = [(each.double() ** 2).sum() for each in first if each is not None and each.requires_grad]
    if squares:
        torch.stack(squares).sum().backward()


class BatchingError(Exception):
    """PyTorch's rules for batches refuse what can be computed one by one."""


def _derivatives(seen: Observed, way: str, called: Called) -> None:
    try:
        _observe_derivatives(seen, way, called)
    except RuntimeError as error:
        if called.in_batches and _is_computed(way, replace(called, in_batches=False)):
            raise BatchingError from error
        raise


def _is_computed(way: str, called: Called) -> bool:
    try:
        _observe_derivatives(Observed(), way, called)
    except RuntimeError:
        return False
    return True


def _observe_derivatives(seen: Observed, way: str, called: Called) -> None:
    for name, gradient in uses.derivatives(way, called):
        seen.facts["gradient", f"{name}: there is one"] = gradient is not None
        if gradient is not None:
            seen.values["gradient", name] = gradient.detach().clone()
            seen.facts["type", name] = (gradient.dtype, tuple(gradient.shape))
            seen.facts["requires_grad", name] = gradient.requires_grad


def _gradients(seen: Observed, tensors: dict[str, torch.Tensor]) -> None:
    for name, tensor in tensors.items():
        if not (is_leaf(tensor) or tensor.retains_grad):
            continue
        seen.facts["gradient", f"{name} has one"] = tensor.grad is not None
        if tensor.grad is not None:
            seen.values["gradient", name] = tensor.grad.detach().clone()

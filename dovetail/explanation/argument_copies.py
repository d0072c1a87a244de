"""Copies of everything that a call may change, so that a function can be run without leaving a trace."""

import copy
import gc
from collections.abc import Callable, Iterator, Sequence
from itertools import compress

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass as is_wrapper
from torch.utils._pytree import tree_leaves

from dovetail.errors import UnsupportedError


class Copies:
    """Copies of the tensors that exist when it is made: the same values, layouts and autograd roles, other memory.

    Who shared memory with whom still does, and a view is a view of its base's copy.
    """

    def __init__(self):
        self._memo: dict = {}
        self._kept: list[torch.Tensor] = []
        self._existing = {_storage(each) for each in _all_tensors() if _has_memory(each) and not is_wrapper(each)}

    def call(self, fn: Callable, args: tuple, kwargs: dict) -> tuple[Callable, tuple, dict]:
        """A call of a copy of `fn` (if it is a module, or the method of an object) on copies of its arguments.

        Raises:
            UnsupportedError: naming an object that Python can't copy.
        """
        try:
            for leaf in tree_leaves((getattr(fn, "__self__", fn), args, kwargs)):
                for tensor in _tensors(leaf):
                    self._tensor(tensor)
            return copy.deepcopy((fn, args, kwargs), self._memo)
        except Exception as error:  # whatever the objects' own methods raise
            raise UnsupportedError(f"the function or an argument can't be copied: {error}") from error

    def inputs(self, values: Sequence) -> list:
        """A graph's inputs, with copies for tensors that were there before; the others were made by the run itself."""
        return [
            self._tensor(each) if _has_memory(each) and _storage(each) in self._existing else each for each in values
        ]

    def _tensor(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._memo:
            self._kept.append(tensor)  # else its id may come to mean another one
            with torch.inference_mode(tensor.is_inference()):
                self._memo[id(tensor)] = made = self._made(tensor)
            if not is_wrapper(tensor):  # whose attributes hold the tensors inside
                made.__dict__.update(tensor.__dict__)
            if tensor.is_leaf and tensor.grad is not None:
                made.grad = self._tensor(tensor.grad)
        return self._memo[id(tensor)]

    def _made(self, tensor: torch.Tensor) -> torch.Tensor:
        if not _has_memory(tensor):
            return copy.deepcopy(tensor, self._memo)
        base = tensor._base
        if base is not None and base.dtype == tensor.dtype and not is_wrapper(tensor):
            with torch.set_grad_enabled(tensor.requires_grad):
                view = self._tensor(base).as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
            return view if view.requires_grad == tensor.requires_grad else view.requires_grad_()
        made = self._wrapper(tensor) if is_wrapper(tensor) else self._plain(tensor)
        if isinstance(tensor, torch.nn.Parameter):
            return torch.nn.Parameter(made, tensor.requires_grad)
        if tensor.is_leaf:
            return made.requires_grad_(tensor.requires_grad)
        with torch.enable_grad():
            return _Computed.apply(torch.zeros((), requires_grad=True), [made])

    def _plain(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = copy.deepcopy(tensor.untyped_storage(), self._memo)
        made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        made.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())
        return made

    def _wrapper(self, tensor) -> torch.Tensor:
        names, context = tensor.__tensor_flatten__()
        parts = {name: self._tensor(getattr(tensor, name)) for name in names}
        return type(tensor).__tensor_unflatten__(parts, context, tensor.size(), tensor.stride())


class _Computed(torch.autograd.Function):
    """Makes a boxed tensor look like the result of a differentiable computation, in the memory that it has."""

    @staticmethod
    def forward(ctx, source, box):
        return box[0]

    @staticmethod
    def backward(ctx, gradient):
        return torch.zeros(()), None


def _tensors(leaf) -> Iterator[torch.Tensor]:
    """The tensors of `leaf` that Python's own way to copy would take from their memory or their gradients."""
    if isinstance(leaf, torch.Tensor):
        yield leaf
    if isinstance(leaf, torch.nn.Module):
        yield from leaf.parameters()
        yield from leaf.buffers()
    if isinstance(leaf, torch.optim.Optimizer):
        for group in leaf.param_groups:
            yield from group["params"]


def _all_tensors() -> Iterator[torch.Tensor]:
    """Every tensor of the process. No loop in Python looks at the objects, of which torch brings half a million.

    Those that `gc.freeze` hid are no longer hidden: there is no other way to see them.
    """
    gc.unfreeze()
    types, known = [torch.Tensor], set()
    while types:
        known.add(id(types[-1]))
        types += type.__subclasses__(types.pop())
    objects = gc.get_objects()
    return compress(objects, map(known.__contains__, map(id, map(type, objects))))


def _has_memory(value) -> bool:
    """Whether `value` is a dense tensor; asks its type, since a proxy may do anything when asked.

    A tensor of a `torch.func` transform or of a batch of gradients is none: it wraps another one, and may outlive what
    made it.
    """
    if not issubclass(type(value), torch.Tensor) or value.layout is not torch.strided:
        return False
    transforms = torch._C._functorch
    return not (transforms.is_functorch_wrapped_tensor(value) or transforms.is_legacy_batchedtensor(value))


def _storage(tensor) -> int:
    """Names the storage of `tensor`, or of the first one inside."""
    while is_wrapper(tensor):
        tensor = getattr(tensor, tensor.__tensor_flatten__()[0][0])
    return tensor.untyped_storage()._cdata

"""The smallest tensor subclass that holds another tensor and that `torch.compile` can look into."""

import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only


class Wrapper(torch.Tensor):
    """Behaves as `held`, a strided tensor of any shape and dtype; two wrappers may share one."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, inner: torch.Tensor) -> "Wrapper":
        wrapper = torch.Tensor._make_wrapper_subclass(
            cls,
            inner.shape,
            strides=inner.stride(),
            storage_offset=inner.storage_offset(),
            dtype=inner.dtype,
            device=inner.device,
        )
        wrapper.held = inner
        return wrapper

    def __tensor_flatten__(self):
        return ["held"], None

    @staticmethod
    def __tensor_unflatten__(tensors, _context, _size, _stride):
        return Wrapper(tensors["held"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):  # type: ignore[override]  # torch declares no `cls`
        held_args, held_kwargs = tree_map_only(Wrapper, lambda each: each.held, (args, kwargs or {}))
        results = tree_map_only(torch.Tensor, Wrapper, func(*held_args, **held_kwargs))
        return return_and_correct_aliasing(func, args, kwargs or {}, results)

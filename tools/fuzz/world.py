"""A program's source, loaded: the function, its state, and the makers of its arguments."""

import itertools
import linecache
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType

import torch

_MODES: dict[str, Callable[[], AbstractContextManager]] = {
    "": nullcontext,
    "torch.no_grad()": torch.no_grad,
    "torch.inference_mode()": torch.inference_mode,
}
_files = itertools.count()


class World:
    """One of the two equal worlds of a comparison. Loading the source anew makes state and globals anew."""

    def __init__(self, source: str):
        number = next(_files)
        path = f"<fuzz {number}>"
        # Tracebacks and Dynamo look the lines up here.
        linecache.cache[path] = (len(source), None, source.splitlines(keepends=True), path)
        self.path = path
        # Dynamo imports the module of a function that `cond` is given.
        self.module = sys.modules[f"fuzz_{number}"] = ModuleType(f"fuzz_{number}")
        self.namespace = self.module.__dict__
        exec(compile(source, path, "exec"), self.namespace)
        self.fn: Callable = self.namespace["fn"]

    def close(self) -> None:
        """Forgets the source."""
        linecache.cache.pop(self.path, None)
        sys.modules.pop(self.module.__name__, None)

    def state(self) -> dict[str, torch.Tensor]:
        """Parameters, buffers and global tensors, by name; their gradients are dropped."""
        found = {name: each for name, each in self.namespace.items() if isinstance(each, torch.Tensor)}
        if isinstance(self.fn, torch.nn.Module):
            found |= {f"self.{name}": each for name, each in self.fn.named_parameters()}
            found |= {f"self.{name}": each for name, each in self.fn.named_buffers()}
        for tensor in found.values():
            tensor.grad = None
        return found

    def inputs(self, number: int) -> dict:
        """What call `number` passes, by parameter name, and what that was made from."""
        return self.namespace[f"inputs_{number}"]()

    def writes_later(self, number: int) -> bool:
        """Whether the caller of call `number` writes to what it got."""
        return f"later_{number}" in self.namespace

    def later(self, number: int, outputs: list[torch.Tensor], arguments: list) -> None:
        """Writes as the caller of call `number` does."""
        self.namespace[f"later_{number}"](outputs, *arguments)


def in_mode(mode: str) -> AbstractContextManager:
    """The context manager that `Call.mode` names."""
    return _MODES[mode]()

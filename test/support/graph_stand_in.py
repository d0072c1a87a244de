"""Stands in for CUDA graphs where there is no GPU: what is captured is noted op by op, and a replay runs it again.

Tensors are the CPU's, which is taken for the GPU, or those of an emulated GPU, where the CPU is the host.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import torch._dynamo  # where the first op of a tape imports it, torch.fx keeps the frames, and what they hold
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch_mlir import ir

from dovetail.backends.python import memory
from dovetail.dialects.attributes import TARGET
from dovetail.passes.border.state_recordable import StateRecordablePass
from dovetail.runtime.cuda import recording, torch_streams


class Tape(TorchDispatchMode):
    """A graph. Like a real one it keeps the memory that it works in, and of other tensors the addresses alone.

    Raises:
        AssertionError: for what a real one would do once, while capturing, and no replay: draw or compute on the host.
    """

    gpu = "cpu"

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[tuple] = []
        self.own: set[int] = set()
        self.before: list[tuple[torch.Tensor, torch.Tensor]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if torch.Tag.data_dependent_output in func.tags:
            raise RuntimeError("operation not permitted when stream is capturing")
        if func._schema.is_mutable:
            self.before += [(each, each.clone()) for each in tree_leaves(args) if isinstance(each, torch.Tensor)]
        made = func(*args, **(kwargs or {}))
        if self._is_on_host(func, args, made):
            return made
        if not func.is_view:
            if not func._schema.is_mutable:
                self.own |= {each.untyped_storage()._cdata for each in tree_leaves(made)}
            self.steps.append((func, *tree_map(self._noted, (args, kwargs or {}, made))))
        return made

    def replay(self) -> None:
        for func, args, kwargs, made in self.steps:
            for old, new in zip(tree_leaves(made), tree_leaves(func(*args, **kwargs)), strict=True):
                if old.data_ptr() != new.data_ptr():
                    old.copy_(new)

    def spoil(self) -> None:
        """What was computed while capturing is not there after a real capture."""
        for func, _, _, made in self.steps:
            if not func._schema.is_mutable:
                for each in tree_leaves(made):
                    each.fill_(7)
        for written, contents in reversed(self.before):
            written.copy_(contents)
        self.before.clear()

    def _is_on_host(self, func: Any, args: Any, made: Any) -> bool:
        """Whether the host makes a constant there, once."""
        given, results = ([each for each in tree_leaves(of) if isinstance(each, torch.Tensor)] for of in (args, made))
        if not results or any(each.device.type == self.gpu for each in results):
            return False
        if given or torch.Tag.nondeterministic_seeded in func.tags:
            raise AssertionError(f"{func} runs on the host, once, and no replay runs it again")
        return True

    def _noted(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.untyped_storage()._cdata in self.own:
            return value
        if value.device.type != self.gpu:  # of the host: the number is a parameter of a kernel's
            return value.clone()
        if value.device.type != "cpu":  # nothing shows memory by its address as an emulated GPU's
            return value.detach()
        storage = value.untyped_storage()
        contents = (ctypes.c_char * storage.nbytes()).from_address(storage.data_ptr())
        whole = torch.frombuffer(contents, dtype=value.dtype)
        return whole.as_strided(value.size(), value.stride(), value.storage_offset())


@contextmanager
def captured(graph: Tape, _: Any) -> Iterator[None]:
    with graph:
        yield
    graph.spoil()


def stand_in_for_graphs(monkeypatch: pytest.MonkeyPatch, gpu: str = "cpu") -> None:
    """Lets recordings be made of tensors on `gpu`, the CPU or an emulated GPU, for a test."""
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Tape)
    monkeypatch.setattr(Tape, "gpu", gpu)
    monkeypatch.setattr(recording, "captured", captured)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch_streams, "raw_stream", lambda _: 7)
    monkeypatch.setattr(torch_streams, "current_device", lambda: 0)
    if gpu != "cpu":
        return
    monkeypatch.setattr(torch.Tensor, "get_device", lambda _: 0)
    # The program's own way asks no dispatcher, so a tape would not know the memory for its own.
    monkeypatch.setattr(
        memory, "allocate", lambda shape, strides, dtype: torch.empty_strided(shape, strides, dtype=dtype)
    )


def recordable(module: ir.Module) -> ir.Module:
    """`module`, a program of the CPU, which says what one for a GPU would."""
    attributes = module.operation.attributes
    attributes[TARGET] = ir.StringAttr.get("cuda:sm_90", module.context)
    StateRecordablePass().run(module)
    del attributes[TARGET]
    return module

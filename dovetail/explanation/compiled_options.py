"""The options that `torch.compile` was given for a function, read off what it returned."""

from collections.abc import Callable
from inspect import getclosurevars
from typing import Any

import torch
from torch._dynamo.eval_frame import innermost_backend

from dovetail.errors import UnsupportedError
from dovetail.options import Options
from dovetail.torch_backend import dovetail


def compiled_options(fn: Callable) -> Options:
    """The options of a function or module that `torch.compile` or `Module.compile` made run with this backend.

    The defaults for what is not compiled, or by another backend.

    Raises:
        OptionError: for options or a mode that the backend refuses.
        UnsupportedError: where PyTorch keeps the options elsewhere than version 2.13 does.
    """
    compiled = getattr(fn, "_compiled_call_impl", None) or fn
    config = getattr(compiled, "get_compiler_config", None)
    if config is None:
        return Options()
    # Public, but says nothing of backends other than inductor; its closure is the context that holds the backend.
    callback = getattr(getclosurevars(config).nonlocals.get("self"), "callback", None)
    if callback is None:
        raise UnsupportedError(
            f"explain can't read the options that {fn!r} was compiled with from torch {torch.__version__}; "
            "expected the function as it was before torch.compile"
        )
    backend: Any = innermost_backend(callback)
    if getattr(backend, "compiler_fn", None) is not dovetail:
        return Options()
    return Options.parse(backend.kwargs.get("options"), backend.kwargs.get("mode"))

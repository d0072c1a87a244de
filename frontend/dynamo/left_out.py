"""What Dynamo does for others in each process, trace or call, and leaves out where nobody needs it."""

import functools
import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch._dynamo import config, guards, output_graph, symbolic_convert
from torch._dynamo.callback import callback_handler
from torch._dynamo.variables import optimizer
from torch._guards import CompileContext
from torch.autograd import profiler

_ORIGINAL = "_dovetail_original"
"""Names, in a function of ours that bears the name of one of Dynamo's, that one."""


def ask_inductor_of_gpus_only() -> None:
    """Has Dynamo import Inductor for gradients on GPUs alone: to import it takes longer than to load a program.

    Of each gradient of a compiled optimizer it asks a module of Inductor whether CUDA graphs will find it in place. Of
    any that is not on a GPU the answer is yes, whoever is asked.
    """
    asked = getattr(optimizer, "_is_static_for_cudagraphs", None)  # not of each version
    if asked is not None and asked.__module__ != __name__:
        optimizer._is_static_for_cudagraphs = lambda x: asked(x) if x.is_cuda else True


def name_functions_for_logs_only() -> None:
    """Has Dynamo look for the function that a traced line stands in where its log says so: a seventh of a warm start.

    It asks for each call that it traces, and only then whether the log is on.
    """
    asked: Any = getattr(symbolic_convert, "get_funcname", None)  # not of each version
    logs = (output_graph.trace_call_log, symbolic_convert.trace_call_log, symbolic_convert.trace_source_log)

    def name(filename: str, lineno: int) -> str | None:
        return asked(filename, lineno) if any(log.isEnabledFor(logging.DEBUG) for log in logs) else None

    if asked is not None and asked.__module__ != __name__:
        symbolic_convert.get_funcname = name


def measure_guards_for_logs_only() -> None:
    """Has Dynamo measure how long guards take where its log says so: 17 ms for each graph.

    It flushes the processor's caches for that.
    """
    measured: Any = getattr(guards, "profile_guard_manager", None)  # not of each version

    def measure(guard_manager: Any, f_locals: dict[str, Any], n_iters: int) -> float:
        is_logged = guards.guards_log.isEnabledFor(logging.DEBUG)
        return measured(guard_manager, f_locals, n_iters) if is_logged else 0.0

    if measured is not None and measured.__module__ != __name__:
        guards.profile_guard_manager = measure


class _AskingFirst:
    """A tree of guards that looks for hooks of saved tensors before it asks what is added to it about them."""

    def __init__(self, root: Any) -> None:
        self._root = root

    def add_lambda_guard(self, check: Callable[[Any], bool], *how: Any) -> None:
        hooks = torch._C._autograd._top_saved_tensors_default_hooks
        self._root.add_lambda_guard(lambda value: not hooks(True) or check(value), *how)


def look_for_hooks_first() -> None:
    """Has Dynamo's guard on hooks of saved tensors end where there are none: 0.25 of 9 µs of a small call.

    It makes four calls in Python, to compare nothing with nothing. What is compiled beside hooks keeps its guard.
    """
    asked: Any = getattr(guards.GuardBuilder, "AUTOGRAD_SAVED_TENSORS_HOOKS", None)  # not of each version
    if asked is None or hasattr(asked, _ORIGINAL):
        return

    @functools.wraps(asked)  # Dynamo tells guards by their functions' names
    def guard_on_hooks(builder: Any, guard: Any) -> None:
        if torch._C._autograd._top_saved_tensors_default_hooks(True):
            asked(builder, guard)
            return
        managed = builder.guard_manager
        builder.guard_manager = SimpleNamespace(root=_AskingFirst(managed.root))
        try:
            asked(builder, guard)
        finally:
            builder.guard_manager = managed

    vars(guard_on_hooks)[_ORIGINAL] = asked
    guards.GuardBuilder.AUTOGRAD_SAVED_TENSORS_HOOKS = guard_on_hooks  # type: ignore[method-assign]  # no setting


_left_out: list[bool] = []
"""What is to be put back: Dynamo's setting of ranges, while Dynamo compiles."""


def leave_out_profile_ranges() -> None:
    """Has the code that Dynamo is about to make for a graph open no range "Pregraph bytecode": 1.6 of 8.8 µs of a call.

    It asks for a profiler in each call, by two functions that switch Dynamo off and on again. Where a profiler runs
    now, the ranges stay. Once Dynamo has compiled, its setting is as it was.
    """
    # Outside of Dynamo nothing would put it back, also where somebody else traces.
    if not config.record_runtime_overhead or profiler._is_profiler_enabled or CompileContext.try_get() is None:
        return
    _left_out.append(True)
    config.record_runtime_overhead = False
    if _put_back not in callback_handler.end_callbacks:  # a reset of Dynamo takes it away
        callback_handler.register_end_callback(_put_back)


def _put_back(arguments: Any) -> None:
    if _left_out:
        _left_out.clear()
        config.record_runtime_overhead = True

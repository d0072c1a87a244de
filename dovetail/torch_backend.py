"""The entry point that `torch.compile(model, backend="dovetail")` finds."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.frontend.dynamo.asked_history import guard_what_is_asked_of_history
from dovetail.frontend.dynamo.crossed_lerps import keep_crossed_lerps
from dovetail.frontend.dynamo.garbage import postpone_full_collections
from dovetail.frontend.dynamo.left_out import (
    ask_inductor_of_gpus_only,
    leave_out_profile_ranges,
    look_for_hooks_first,
    measure_guards_for_logs_only,
    name_functions_for_logs_only,
)
from dovetail.frontend.dynamo.sizes_at_once import ask_for_sizes_at_once, tell_that_tensors_are_plain
from dovetail.frontend.unseen import leave_modules_alone, tell_threads_apart
from dovetail.untraced import leave_untraced_as_they_are

# `torch.compile` imports this file before Dynamo traces anything.
ask_for_sizes_at_once()
ask_inductor_of_gpus_only()
guard_what_is_asked_of_history()
keep_crossed_lerps()
measure_guards_for_logs_only()
name_functions_for_logs_only()
postpone_full_collections()
leave_modules_alone()
leave_untraced_as_they_are()
look_for_hooks_first()
tell_threads_apart()


def dovetail(
    gm, example_inputs: Sequence, *, options: Mapping[str, Any] | None = None, mode: str | None = None
) -> Callable:
    """Compiles one Dynamo graph.

    Args:
        gm: the graph (`torch.fx.GraphModule`).
        example_inputs: its arguments.
        options: see `dovetail.options.Options`.
        mode: what `torch.compile` passes on in place of options; see `dovetail.options.MODES`.

    Raises:
        DovetailError: for an unknown mode or option, an unsupported device or argument, before anything ran.
    """
    from dovetail.compiler import compile_graph
    from dovetail.options import Options

    postpone_full_collections()
    compiled = compile_graph(gm, example_inputs, Options.parse(options, mode))
    leave_out_profile_ranges()
    tell_that_tensors_are_plain(example_inputs)
    return compiled

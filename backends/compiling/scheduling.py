"""IREE's passes from its phase `flow` to `hal`, as far as launch plans need them, and one that it lacks.

A plan says which kernels run, in which order, and where their memory lies. IREE's own pipeline cleans up after each
step, by patterns that it collects anew for every function: most of what a small region costs it. A region's function is
a straight line already, so that one cleanup of the module after each change of level comes to the same text. What finds
devices and loads code when a module starts is left out: a plan's code is loaded by us.

Where a value is updated in two ways, each update is of a copy, or the last one of the value itself.
`iree-stream-emplace-allocations` has kernels write into what they update, and thereby moves updates to where the
kernels stand: if the last one stands first, what is copied after it is no longer the value, and
`iree-stream-elide-async-copies` drops even that copy. So copies are made anew in the new order.
"""

from collections.abc import Container, Iterator


def _on_host(*passes: str) -> str:
    """`passes` for all functions that run on the host."""
    return ",".join(f"{op}({','.join(passes)})" for op in ("util.initializer", "util.func"))


_CLEANUP = "canonicalize,cse,iree-util-fold-globals"

_TO_TENSORS = (
    "iree-util-verify-initialization-order",
    "iree-stream-verify-input",
    "iree-stream-clone-to-consumers",
    "iree-stream-conversion",
    "iree-stream-verify-lowering-to-tensors",
    "inline{default-pipeline=}",
    _CLEANUP,
    "iree-util-combine-initializers",
)
_TO_ASYNC = (
    "iree-stream-specialize-encodings",
    _on_host("iree-stream-encode-host-tensors"),
    "stream.executable(iree-stream-encode-device-tensors)",
    "iree-stream-materialize-encodings",
    _CLEANUP,
    "iree-stream-verify-lowering-to-async-resources",
    _on_host("iree-stream-materialize-copy-on-write"),
    "iree-stream-elide-async-copies",
    _CLEANUP,
    _on_host("iree-stream-emplace-allocations", "iree-stream-materialize-copy-on-write"),
    "iree-stream-refine-usage",
    _CLEANUP,
    "iree-stream-elide-async-copies",
    "iree-stream-verify-async-access-ranges",
    "iree-stream-place-transfer-executions",
    _on_host("iree-stream-schedule-execution", "iree-stream-schedule-concurrency"),
    "iree-stream-sync-initializers",
    "iree-stream-propagate-timepoints",
    "iree-stream-materialize-builtins",
    _CLEANUP,
    "iree-stream-verify-lowering-to-async",
)
_TO_COMMANDS = (
    "iree-stream-schedule-allocation",
    "iree-stream-emplace-transients",
    "iree-stream-materialize-transient-size-queries",
    _on_host("iree-stream-pack-constants", "iree-stream-layout-slices"),
    _CLEANUP,
    "iree-util-propagate-subranges",
    _CLEANUP,
    _on_host("iree-stream-reuse-allocations"),
    "iree-stream-automatic-reference-counting",
    "iree-stream-annotate-constant-transient-size",
    "iree-stream-verify-lowering-to-cmd",
)
_FOR_LAUNCHES = (
    _on_host("convert-scf-to-cf"),
    _CLEANUP,
    "iree-stream-elide-timepoints",
    "iree-stream-fuse-dispatch-bindings",
    "iree-stream-annotate-dispatch-arguments",
    "iree-stream-annotate-dispatch-assumptions",
    "iree-stream-pack-dispatch-operands",
    _CLEANUP,
    "iree-stream-fold-uniform-operands",
    _CLEANUP,
    "symbol-dce",
)

PIPELINE_TO_COMMANDS = f"builtin.module({','.join((*_TO_TENSORS, *_TO_ASYNC, *_TO_COMMANDS))})"
"""For `iree-opt`: what takes a module from phase `flow` to commands, each of which says what memory it touches.

Behind them, what a kernel binds is all that the region has of that memory.
"""

PIPELINE_TO_STREAM = f"builtin.module({','.join(_FOR_LAUNCHES)})"
"""For `iree-opt`: what takes a module from commands to phase `stream`."""

_TO_HAL = (
    "iree-hal-conversion",
    "iree-affine-expand-index-ops",
    "iree-lower-affine",
    _CLEANUP,
    "iree-hal-prune-executables",
    "iree-hal-link-all-executables",
)

_STAGES = {
    "executable-configurations": (
        *_FOR_LAUNCHES,
        "iree-hal-materialize-interfaces",
        "iree-hal-prune-executables",
        "hal.executable(iree-hal-configure-executables)",
    ),
    "executable-targets": ("hal.executable(iree-hal-translate-all-executables)",),
    "hal": _TO_HAL,
}


def pipelines(backend: str, edited: Container[str]) -> Iterator[tuple[str, str]]:
    """What takes a module from commands to `hal`, for `iree-opt`: pipelines in order, one up to each `edited` phase.

    `backend` is IREE's, which makes the code.

    Returns:
        The phase that a pipeline ends at, and the pipeline.
    """
    passes: list[str] = []
    for phase, more in _STAGES.items():
        passes += more
        if phase == "hal":
            # The pass for all backends lacks dialects that `cuda` needs.
            passes.append(f"hal.executable(iree-hal-serialize-target-executables{{target={backend}}})")
        if phase in edited or phase == "hal":
            yield phase, f"builtin.module({','.join(passes)})"
            passes = []


FLAGS_TO_FLOW = ("--verify=false",)
"""Flags of `iree-compile` up to `flow`: else it verifies all text after each pass, a third of its time.

The next process verifies what it is handed.
"""

FLAGS_OF_PASSES = ("--verify-each=false",)
"""Flags of `iree-opt` from there on: text is verified where it is read, by the next process or by what reads plans.

What becomes code is verified by LLVM, before it makes any.
"""

FLAGS_TO_HAL = ("--iree-hal-memoization=false", "--iree-hal-indirect-command-buffers=false")
"""Flags of both, from there on: functions record commands where they run them, the form that plans are read from."""

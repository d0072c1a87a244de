"""What `dovetail.explain` says, as values: all of it read from the final IR of each graph.

Source lines are "file.py:12", "" where the IR has none. Strides are in elements.
"""

from dataclasses import dataclass, field

from dovetail.explanation.picture_records import Memory, Node, Stage


@dataclass(frozen=True)
class TensorType:
    """Element type (PyTorch's name for it), shape and strides of a tensor; None is a number that calls decide."""

    dtype: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    is_row_major: bool


@dataclass(frozen=True)
class Mutation:
    """How an input's memory is written.

    `mode` is what autograd sees: "tracked", "no_grad" or "hidden"; `versions` by how much `_version` moves. `proof` is
    why it is written in place; where that is empty, the new value is computed into fresh memory and copied, and
    `reason` says why.
    """

    mode: str
    versions: int
    proof: str
    reason: str
    line: str


@dataclass(frozen=True)
class MetadataChange:
    """Shape and strides that an input ends with, how far its first element moves, and by how much `_version` does."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    versions: int


@dataclass(frozen=True)
class Sharing:
    """Memory in common with the input `name`, which begins `distance` bytes after this one.

    `relation` is "the same object", "views of one tensor" or "one storage".
    """

    name: str
    distance: int
    relation: str


@dataclass(frozen=True)
class Input:
    """One argument of a graph, under the user's name for it.

    `tensor` is None for a number, for which alone the graph holds. `gradient` is "not needed", "computed", "detached"
    (it requires one, and the graph contributes none) or "no backward" (it requires one, and nothing is differentiated).
    `static` is a parameter or buffer, which outlives the call. `versions` is by how much `_version` moves in all, which
    it may do without a write, as in-place changes of a view's sizes do. `sharing` is known where the graph writes
    inputs only.
    """

    name: str
    tensor: TensorType | None
    gradient: str
    static: bool
    versions: int
    mutations: tuple[Mutation, ...]
    metadata: MetadataChange | None
    sharing: tuple[Sharing, ...]


@dataclass(frozen=True)
class Output:
    """One result of a graph.

    `origin` is "fresh", "input", "result", "hidden" (memory that only views show) or "constant"; `of` names the input,
    the number of the result or of the hidden memory, or the constant. `views` are replayed on it, first to last; with
    none, "input" and "result" are that very object. `differentiable` is None where the user's own tensor decides.
    `copied` says of what it is a copy, or why it is copied once more, "" if it is not.
    """

    origin: str
    of: str
    views: tuple[str, ...]
    tensor: TensorType | None
    differentiable: bool | None
    copied: str
    line: str


@dataclass(frozen=True)
class Saved:
    """A value kept for the backward, `value` being an input, a result, or the op that computed it.

    `private` values die when the backward has used them; the user can reach the others, so their version is checked
    by a backward from one of the results `checked_for`. `for_replay`: whoever differentiates the gradient needs it,
    too. Saving a `static` one costs nothing. `nbytes` is in bytes.
    """

    value: str
    nbytes: int
    private: bool
    static: bool
    line: str
    checked_for: tuple[str, ...] = ()
    for_replay: bool = False

    @property
    def fate(self) -> str:
        """What happens to it before the backward, in words."""
        if self.private:
            return "private: freed when the backward has used it"
        return f"its version is checked for the gradient of {' and '.join(self.checked_for)}"


@dataclass(frozen=True)
class Op:
    """An op and its place: computed anew by the backward, or a library call with its `reason`."""

    name: str
    line: str
    reason: str = ""
    is_fallback: bool = False


@dataclass(frozen=True)
class Region:
    """Ops that are compiled as one: their number, their names in order, and the source lines that they come from.

    `tuned` is how they run since that was measured to be the fastest ("default on local-sync", "split"), and `measured`
    are the figures; both are "" where nothing was measured. `kept_apart` says why its results do not lie where operands
    die, "" where none would or one does.
    """

    name: str
    ops: int
    names: tuple[str, ...]
    lines: tuple[str, ...]
    tuned: str = ""
    measured: str = ""
    kept_apart: str = ""


@dataclass(frozen=True)
class CallCheck:
    """What each call checks before anything runs: else the graph is compiled anew.

    `independent` are the inputs in memory that nothing else of the call overlaps (`mutated`, then the others), but for
    each other where `shared` says so; `offsets` are (input, storage offset in elements).
    """

    mutated: tuple[str, ...]
    others: tuple[str, ...]
    shared: tuple[tuple[str, ...], ...]
    offsets: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Program:
    """One compiled graph, for `device`. `ir` is its module at the last level, which says all the rest.

    `nodes` are its dataflow, in order, and `memory` what each host function holds. `grad_mode` is autograd's mode after
    the call, None where it stays. `once` says why the gradient can't be differentiated, "" if it can; `host_ops` for
    which ops no CUDA graph can stand, and why. `ends` says why Dynamo ended the graph, "" if because the function did.
    `stages` are kept where a page is asked for, the last one being `ir`.
    """

    device: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    saved: tuple[Saved, ...]
    recomputed: tuple[Op, ...]
    regions: tuple[Region, ...]
    library_calls: tuple[Op, ...]
    nodes: tuple[Node, ...] = field(repr=False)
    memory: tuple[Memory, ...] = field(repr=False)
    guard: CallCheck | None
    grad_mode: bool | None
    has_backward: bool
    once: str
    host_ops: tuple[str, ...]
    ends: str
    ir: str = field(repr=False)
    stages: tuple[Stage, ...] = field(repr=False)

    @property
    def own_bytes(self) -> int:
        """Of the saved values, those that nothing else keeps alive."""
        return sum(value.nbytes for value in self.saved if value.private)


@dataclass(frozen=True)
class Eager:
    """One graph that runs uncompiled, and why; `ends` as in `Program`."""

    reason: str
    ends: str

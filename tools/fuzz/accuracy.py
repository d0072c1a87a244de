"""Numbers that differ from eager's, judged by the same program in double precision.

The bound, for each element: its distance from the value in double precision is at most three times eager's, plus one
rounding of the element type. Eager's distance is the largest of its own run's and those of runs in which every op is
rounded at random (`stochastic`), since a single run may be near by luck. Where a comparison or a rounding is decided by
numbers that are exact, all of these runs agree, and so must compiled code; where rounding decides, some of them differ.
A compiled call is one node of autograd's graph: in some of these runs eager sums gradients as if its call were, too.
Infinities and NaN have no distance: where double precision has one, so may compiled code, and numbers are measured from
eager's.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial

import torch
from torch.utils._pytree import tree_map_only

from dovetail.tools.fuzz.casts import Casts
from dovetail.tools.fuzz.compare import Difference
from dovetail.tools.fuzz.derivatives import uses
from dovetail.tools.fuzz.distances import difference, eager_error, equal, error, far, is_same_infinity, reference
from dovetail.tools.fuzz.observe import Key, Observed, observe
from dovetail.tools.fuzz.stochastic import RandomRounding
from dovetail.tools.fuzz.two_passes import TwoPassVariances
from dovetail.tools.fuzz.world import World

_RUNS = 32  # with random rounding, at most after the last one that explained an element
# For one element of a thousand, or some of thousands: some are further off than 32 runs of each show, and any of many
# near-ties may win: one of 250 rows wins in 512 runs with a probability of seven eighths, in 256 of not two thirds.
_MOST_RUNS = 512
_FEW = 1 / 1000
_HANDFUL, _OF = 64, 1 / 32
_FIRST_RUNS = 8  # after which many elements are not waited for
_MANY = 1000
_PLAINLY = {
    "from torch import cond": "from dovetail.tools.fuzz.computations.plainly import cond",
    "from torch.utils.checkpoint import": "from dovetail.tools.fuzz.computations.plainly import extremum,",
}
_EXTREMUM = re.compile(r"([\w.]+)\.(max|min|median)\(\)")
_WIDER = {
    "torch.float32": "torch.float64",
    "torch.bfloat16": "torch.float64",
    "torch.float16": "torch.float64",
    "numbers import numbers": "numbers import in_double_precision as numbers",
}


@dataclass
class Accepted:
    """Numbers that were judged near enough, beside eager's: one form of a program mostly shows what another showed."""

    seen: dict[tuple[int, Key], tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)

    def among(self, call: int, key: Key, eager: torch.Tensor, compiled: torch.Tensor) -> torch.Tensor:
        """Which elements were judged, with the same numbers."""
        if (call, key) not in self.seen or self.seen[call, key][0].shape != eager.shape:
            return torch.zeros_like(eager, dtype=torch.bool)
        return equal(self.seen[call, key][0], eager) & equal(self.seen[call, key][1], compiled)


@dataclass
class Judge:
    """Judges the calls of one program, rendered as `source`; `modes` has each call's mode and kind of backward.

    Attributes:
        accepted: what was judged of other forms of the program, and what will be of this one.
    """

    source: str
    modes: list[tuple[str, str]]
    parameters: list[str]
    accepted: Accepted = field(default_factory=Accepted)

    def differences(self, call: int, eager: Observed, compiled: Observed) -> list[Difference]:
        """What is further from double precision than eager's rounding explains."""
        left = {}
        for key, where in _unequal(eager, compiled):
            where &= ~self.accepted.among(call, key, eager.values[key], compiled.values[key])
            if where.any():
                left[key] = where
        if not left:
            return []
        judged = [*left]
        casts = Casts()
        if ".to(" in self.source:
            self._run(call, nullcontext(), left, wide=False, changed=casts.noted)
        right = self._run(call, TwoPassVariances(), left, wide=True, changed=casts.repeated)
        for key, where in left.items():
            if key in right.values and right.values[key].shape == where.shape:
                where &= ~is_same_infinity(compiled.values[key], right.values[key])
                right.values[key] = reference(eager.values[key], right.values[key])
        spread = {key: eager_error(eager.values[key], right.values.get(key)) for key in left}
        first = last = explained = 0
        for seed in range(_MOST_RUNS + 1):
            for key, where in list(left.items()):
                left[key] = far(compiled.values[key], right.values.get(key), spread[key], where)
                if not left[key].any():
                    del left[key]
            count = _count(left)
            first = first or count
            # Each run explains some of what is rounding: where most is left of many elements, no further one will.
            last, explained = (count, seed) if count != last else (last, explained)
            if not left or seed >= (_MOST_RUNS if _is_few(left) else explained + _RUNS):
                break
            if seed >= _FIRST_RUNS and count > max(_MANY, first / 4):
                break
            has_doubles = any(eager.values[key].dtype == torch.float64 for key in left)
            as_node = (_of_views, _of_what_it_writes)[seed // 6 % 2] if seed % 3 == 2 else _as_it_is
            ran = self._run(call, RandomRounding(seed, has_doubles), left, wide=False, changed=as_node)
            if ran.raised is not None:
                raise ran.raised
            for key, where in left.items():
                if key in ran.values:
                    # Where rounding decides whether there is a number at all, one that it gives is measured from.
                    if key in right.values and right.values[key].shape == where.shape:
                        right.values[key] = reference(ran.values[key], right.values[key])
                    spread[key] = spread[key].fmax(error(ran.values[key], right.values.get(key)))
                    # What is not finite has no distance; that eager can give it, this run shows.
                    where &= ~(equal(compiled.values[key], ran.values[key]) & ~ran.values[key].isfinite())
        for key in judged:
            if key not in left:
                self.accepted.seen[call, key] = eager.values[key], compiled.values[key]
        return [
            difference(key, call, eager.values[key], compiled.values[key], right.values.get(key), spread[key], where)
            for key, where in left.items()
        ]

    def _run(
        self,
        call: int,
        mode: AbstractContextManager,
        wanted: Iterable[Key],
        wide: bool,
        changed: Callable[[Callable], Callable],
    ) -> Observed:
        """What eager shows of a call, as far as it is `wanted`; nothing if it raises.

        Without `checkpoint` and `cond`, which don't change numbers, and what modes change (`plainly`). The function is
        `changed`: to one node of autograd's, say.
        """
        source = self.source
        for text, other in (_PLAINLY | _WIDER if wide else _PLAINLY).items():
            source = source.replace(text, other)
        source = _EXTREMUM.sub(r"extremum('\2', \1)", source)
        has_gradients = any(kind == "gradient" for kind, _ in wanted)
        world = World(source)
        default = torch.get_default_dtype()
        try:
            if wide:  # what is made of whole numbers is of this type
                torch.set_default_dtype(torch.float64)
            with mode:
                # Earlier calls leave nothing but what they wrote to buffers.
                fn = changed(world.fn)
                for each in range(call) if "register_buffer" in source else ():
                    observe(world, fn, each, self.parameters, self.modes[each][0], "none")
                backward = uses.one_by_one(self.modes[call][1]) if has_gradients else "none"
                return observe(world, fn, call, self.parameters, self.modes[call][0], backward)
        finally:
            torch.set_default_dtype(default)
            world.close()


def _as_it_is(fn: Callable) -> Callable:
    return fn


def _of_views(fn: Callable) -> Callable:
    """`fn` as one node, of its own view of each argument: one of a tensor that is given twice.

    What it adds to the gradient of an argument is summed before other uses add to it. Results that are views of what it
    does not write are made outside of it.
    """

    def with_views(*args):
        given = _versions(args)
        views = {id(each): each.view_as(each) for each in args if isinstance(each, torch.Tensor)}
        results = fn(*(views.get(id(each), each) for each in args))
        unwritten = [each for each, version in given if each._version == version]
        return tree_map_only(torch.Tensor, partial(_outside, unwritten), results)

    return with_views


def _of_what_it_writes(fn: Callable) -> Callable:
    """`fn` as one node, of which an argument that it writes is a result.

    Views of that are made outside of it: what they add to the gradient comes before what `fn` adds.
    """

    def with_results(*args):
        given = _versions(args)
        results = fn(*args)
        written = [each for each, version in given if each._version != version]
        return tree_map_only(torch.Tensor, partial(_outside, written), results)

    return with_results


def _versions(args: Iterable) -> list[tuple[torch.Tensor, int]]:
    return [(each, each._version) for each in args if isinstance(each, torch.Tensor) and each.requires_grad]


def _outside(args: list[torch.Tensor], result: torch.Tensor) -> torch.Tensor:
    """A view of one of the arguments, made of the argument itself; any other result as it is."""
    for argument in args:
        is_view = result.requires_grad and result._base is (argument if argument._base is None else argument._base)
        # Of an expanded argument, the gradient of `as_strided` is another than that of the view.
        if is_view and result._base is not None and result.dtype == argument.dtype and not _is_expanded(argument):
            return argument.as_strided(result.shape, result.stride(), result.storage_offset())
    return result


def _is_expanded(tensor: torch.Tensor) -> bool:
    return any(size > 1 and stride == 0 for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


def _unequal(eager: Observed, compiled: Observed) -> Iterator[tuple[Key, torch.Tensor]]:
    """What differs in any bit but the sign of zero, and which elements do."""
    for key, expected in eager.values.items():
        actual = compiled.values.get(key)
        if actual is None or actual.shape != expected.shape or actual.dtype != expected.dtype:
            continue  # a fact differs
        where = ~equal(actual, expected)
        if where.any():
            yield key, where


def _count(left: dict[Key, torch.Tensor]) -> int:
    return sum(int(where.sum()) for where in left.values())


def _is_few(left: dict[Key, torch.Tensor]) -> bool:
    """Whether what is left are single elements of many."""
    counts = ((int(where.sum()), where.numel()) for where in left.values())
    return all(count <= max(_FEW * of, min(_HANDFUL, _OF * of)) for count, of in counts)

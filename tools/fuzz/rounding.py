"""Values that eager rounds more than compiled code does, as the same program shows in double precision.

A division by a deviation of nearly zero multiplies rounding errors without bound, and compiled regions keep in float32
what eager rounds to bfloat16 between two ops: the nearer result is not the wrong one.
"""

from collections.abc import Iterable

import torch

from dovetail.tools.fuzz.compare import TOLERANCES, Difference
from dovetail.tools.fuzz.observe import Observed, observe
from dovetail.tools.fuzz.program import Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.world import World

ROUNDING = "rounding"

_MORE = 3  # times eager's error
_AT_MOST = 0.05  # of the largest element: beyond that, the programs do different things
_WIDER = {"torch.float32": "torch.float64", "torch.bfloat16": "torch.float64", "torch.complex64": "torch.complex128"}


def is_rounding(program: Program, found: Iterable[Difference], eager: Observed, compiled: Observed) -> bool:
    """Whether all that was `found` are values no further from those in double precision than eager's."""
    found = list(found)
    if any((each.kind, each.what) not in eager.values for each in found):
        return False
    precise = _in_double_precision(program, found[0].call)
    keys = [(each.kind, each.what) for each in found]
    return all(key in precise.values for key in keys) and all(
        _is_near(compiled.values[key], eager.values[key], precise.values[key]) for key in keys
    )


def _in_double_precision(program: Program, call: int) -> Observed:
    source = render(program)
    for dtype, wider in _WIDER.items():
        source = source.replace(dtype, wider)
    names = [parameter.name for parameter in program.parameters]
    torch.set_default_dtype(torch.float64)
    try:
        world = World(source)
        seen = [
            observe(world, world.fn, number, names, each.mode, each.backward)
            for number, each in enumerate(program.calls[: call + 1])
        ]
        world.close()
    finally:
        torch.set_default_dtype(torch.float32)
    return seen[-1]


def _is_near(compiled: torch.Tensor, eager: torch.Tensor, precise: torch.Tensor) -> bool:
    tolerance = TOLERANCES.get(eager.dtype)
    if tolerance is None or precise.shape != eager.shape or not torch.equal(compiled.isfinite(), eager.isfinite()):
        return False
    finite = eager.isfinite() & precise.isfinite()
    if not finite.any():
        return True
    scale = max(float(precise[finite].abs().max()), 1.0)
    theirs, ours = ((result.to(precise.dtype) - precise)[finite].abs() for result in (eager, compiled))
    # Where eager was lucky, compiled code may be as far off as eager is elsewhere.
    allowed = _MORE * theirs.clamp(min=float(theirs.median())) + tolerance * scale
    return bool((theirs <= _AT_MOST * scale).all() and (ours <= allowed).all())

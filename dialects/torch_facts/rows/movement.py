"""Ops that copy elements elsewhere."""

from dovetail.dialects.torch_facts.refused import Refused, When
from dovetail.dialects.torch_facts.row import Joins, Layout, alike, movement

MOVEMENT = (
    movement("cat", joins=Joins.ALONG),
    movement("constant_pad_nd", refused=(Refused("negative padding does not compile", when=When.SHRINKING),)),
    movement("diagonal_scatter", refused=(Refused("does not compile"),)),
    movement("flip", layout=Layout.FIRST),
    movement("roll", layout=Layout.FORMAT, layout_on_cuda=Layout.ROWS),
    movement("select_scatter", refused=(Refused("writes over its operand, which others read"),)),
    movement("stack", joins=Joins.ANEW),
    *alike(
        movement,
        "pixel_shuffle repeat rot90 select_backward slice_backward slice_scatter tile unfold_backward",
    ),
)

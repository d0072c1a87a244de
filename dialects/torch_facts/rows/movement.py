"""Ops that copy elements elsewhere."""

from dovetail.dialects.torch_facts.refused import Refused, When
from dovetail.dialects.torch_facts.row import Joins, Layout, WritesInto, alike, movement

MOVEMENT = (
    movement("cat", joins=Joins.ALONG, writes_into=WritesInto.JOIN),
    movement("constant_pad_nd", refused=(Refused("negative padding does not compile", when=When.SHRINKING),)),
    movement("diagonal_scatter", refused=(Refused("does not compile"),)),
    movement("flip", layout=Layout.FIRST),
    movement("roll", layout=Layout.FORMAT, layout_on_cuda=Layout.ROWS),
    movement("select_scatter", refused=(Refused("writes over its operand, which others read"),)),
    movement("slice_scatter", writes_into=WritesInto.SCATTER),
    movement("stack", joins=Joins.ANEW),
    *alike(movement, "pixel_shuffle repeat rot90 select_backward slice_backward tile unfold_backward"),
)

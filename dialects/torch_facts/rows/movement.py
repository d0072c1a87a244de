"""Ops that copy elements to other places."""

from dovetail.dialects.torch_facts.row import Layout, Refused, movement

MOVEMENT = (
    movement("cat"),
    movement("constant_pad_nd"),
    movement("diagonal_scatter", refused=(Refused("does not compile"),)),
    movement("flip"),
    movement("pixel_shuffle"),
    movement("repeat"),
    movement("roll", layout=Layout.FORMAT, layout_on_cuda=Layout.ROWS),
    movement("rot90"),
    movement("select_backward"),
    movement("select_scatter"),
    movement("slice_backward"),
    movement("slice_scatter"),
    movement("stack"),
    movement("tile"),
    movement("unfold_backward"),
)

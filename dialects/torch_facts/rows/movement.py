"""Ops that copy elements elsewhere."""

from dovetail.dialects.torch_facts.row import Layout, Refused, alike, movement

MOVEMENT = (
    movement("diagonal_scatter", refused=(Refused("does not compile"),)),
    movement("roll", layout=Layout.FORMAT, layout_on_cuda=Layout.ROWS),
    movement("select_scatter", refused=(Refused("writes over its operand, which others read"),)),
    *alike(
        movement,
        "cat constant_pad_nd flip pixel_shuffle repeat rot90 select_backward slice_backward "
        "slice_scatter stack tile unfold_backward",
    ),
)

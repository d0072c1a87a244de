"""Views: no arithmetic, and in PyTorch no copy."""

from functools import partial

from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.refused import Refused, When
from dovetail.dialects.torch_facts.row import ResultMemory, Traced, alike, view

_BEYOND = Refused("IREE reads to the end of the dimension, beyond a window that is alone", when=When.LONE_WINDOW)

_by_strides = partial(view, memory=ResultMemory.BY_STRIDES)

VIEWS = (
    *alike(partial(view, strides=strides.reshape, is_identity=True), "alias detach"),
    _by_strides("as_strided", refused=(Refused("shows memory, not values"),)),
    view("diagonal", refused=(Refused("IREE computes the diagonal alone of what may all be needed elsewhere"),)),
    *alike(partial(view, strides=strides.expand, overlaps=True), "expand expand_as"),
    view("lift_fresh", traced=Traced.WHOLE, strides=strides.reshape),
    *alike(partial(view, strides=strides.keep), "chunk narrow split split_with_sizes"),
    view("permute", strides=strides.permute),
    *alike(view, "real unbind"),
    _by_strides("_reshape_alias"),
    view("select", strides=strides.select),
    view("slice", strides=strides.cut),
    view("squeeze", strides=strides.reshape),
    view("t", strides=strides.reverse),
    view("transpose", strides=strides.transpose),
    view("unfold", overlaps=True, refused=(_BEYOND,)),
    view("unsqueeze", strides=strides.reshape, adds_dimension=True),
    _by_strides("_unsafe_view", traced=Traced.IN_PARTS, strides=strides.reshape),
    *alike(partial(_by_strides, strides=strides.reshape), "reshape view view_as"),
)

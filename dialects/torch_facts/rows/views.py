"""Views: no arithmetic, and in PyTorch no copy."""

from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.row import Refused, ResultMemory, Traced, view

VIEWS = (
    view("alias", strides=strides.reshape, is_identity=True),
    view("as_strided", memory=ResultMemory.BY_STRIDES, refused=(Refused("shows memory, not values"),)),
    view("chunk", strides=strides.keep),
    view("detach", strides=strides.reshape, is_identity=True),
    view("diagonal", refused=(Refused("IREE computes the diagonal alone of what may all be needed elsewhere"),)),
    view("expand", strides=strides.expand),
    view("expand_as", strides=strides.expand),
    view("lift_fresh", traced=Traced.WHOLE, strides=strides.reshape),
    view("narrow", strides=strides.keep),
    view("permute", strides=strides.permute),
    view("real"),
    view("reshape", memory=ResultMemory.BY_STRIDES, strides=strides.reshape),
    view("_reshape_alias", memory=ResultMemory.BY_STRIDES),
    view("select", strides=strides.select),
    view("slice", strides=strides.cut),
    view("split", strides=strides.keep),
    view("split_with_sizes", strides=strides.keep),
    view("squeeze", strides=strides.reshape),
    view("t", strides=strides.reverse),
    view("transpose", strides=strides.transpose),
    view("unbind"),
    view("unfold"),
    view("_unsafe_view", traced=Traced.IN_PARTS, memory=ResultMemory.BY_STRIDES, strides=strides.reshape),
    view("unsqueeze", strides=strides.reshape),
    view("view", memory=ResultMemory.BY_STRIDES, strides=strides.reshape),
    view("view_as", memory=ResultMemory.BY_STRIDES, strides=strides.reshape),
)

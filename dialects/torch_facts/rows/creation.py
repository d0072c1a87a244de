"""Ops that make a tensor from nothing."""

from functools import partial

from dovetail.dialects.torch_facts.row import FLOATS, Kind, Recompute, Refused, creation

UNWRITTEN = "memory that nothing has written"
"""What the rows of ops whose results hold no values say of their kernels."""

# Memory as it comes: computed again it would hold something else, and a region has nothing to write to it.
_unwritten = partial(creation, kind=Kind.LIBRARY, kernel=UNWRITTEN, recompute=Recompute.WORK)
_NO_BYTES = Refused("does not compile", ("uint8",))

CREATION = (
    creation("arange", refused=(Refused("does not compile", (*FLOATS, "uint8", "int8")),)),
    _unwritten("empty"),
    _unwritten("empty_like"),
    _unwritten("empty_permuted"),
    _unwritten("empty_strided"),
    creation("eye"),
    creation("fill", fills_at=1),
    creation("full", fills_at=1, refused=(_NO_BYTES,)),
    creation("full_like", fills_at=1, refused=(_NO_BYTES,)),
    creation("iota"),
    creation("linspace"),
    _unwritten("new_empty"),
    _unwritten("new_empty_strided"),
    creation("new_full", fills_at=2),
    creation("new_ones", fills_with=1),
    creation("new_zeros", fills_with=0),
    creation("ones", fills_with=1),
    creation("ones_like", fills_with=1),
    creation("scalar_tensor", fills_at=0, refused=(_NO_BYTES,)),
    creation("zeros", fills_with=0),
    creation("zeros_like", fills_with=0),
)

"""Ops that make a tensor from nothing."""

from functools import partial

from dovetail.dialects.torch_facts.element_types import FLOATS
from dovetail.dialects.torch_facts.refused import Refused
from dovetail.dialects.torch_facts.row import Kernel, Kind, Layout, Recompute, WritesInto, alike, creation

# Memory as it comes: computed again it would hold something else, and a region has nothing to write to it.
_unwritten = partial(creation, kind=Kind.LIBRARY, kernel=Kernel.UNWRITTEN, recompute=Recompute.WORK)
_NO_BYTES = Refused("does not compile", ("uint8",))

CREATION = (
    creation("arange", never_folded=True, refused=(Refused("does not compile", (*FLOATS, "uint8", "int8")),)),
    *alike(_unwritten, "empty empty_like empty_permuted empty_strided new_empty new_empty_strided"),
    *alike(creation, "eye iota linspace"),
    creation("fill", fills_at=1, layout=Layout.FIRST),
    creation("full", fills_at=1, refused=(_NO_BYTES,), writes_into=WritesInto.FILL),
    creation("full_like", fills_at=1, refused=(_NO_BYTES,)),
    creation("new_full", fills_at=2),
    *alike(partial(creation, fills_with=1), "new_ones ones ones_like"),
    *alike(partial(creation, fills_with=0), "new_zeros zeros zeros_like"),
    creation("scalar_tensor", fills_at=0, refused=(_NO_BYTES,)),
)

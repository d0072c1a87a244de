"""Ops of the torch dialect that are not ATen's, by their whole names."""

from dovetail.dialects.torch_facts.names import LITERAL, UNPACK
from dovetail.dialects.torch_facts.refused import Refused
from dovetail.dialects.torch_facts.row import creation, view

DIALECT = (
    view(UNPACK),
    creation("torch.prim.NumToTensor.Scalar", fills_at=0),
    creation(LITERAL, refused=(Refused("does not compile", ("uint8",)),)),
)

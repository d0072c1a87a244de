"""Ops of the torch dialect that are not ATen's, by their whole names."""

from dovetail.dialects.torch_facts.row import Refused, creation, view

DIALECT = (
    view("torch.prim.ListUnpack"),
    creation("torch.prim.NumToTensor.Scalar", fills_at=0),
    creation("torch.vtensor.literal", refused=(Refused("does not compile", ("uint8",)),)),
)

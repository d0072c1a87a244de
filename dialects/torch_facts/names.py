"""The names of the torch dialect's ops that are none of ATen's, and that more than one file speaks of."""

LIST, UNPACK = "torch.prim.ListConstruct", "torch.prim.ListUnpack"
"""A list of its operands; the elements of one."""

LITERAL = "torch.vtensor.literal"
"""A tensor whose elements stand in the IR."""

LOAD, STORE = "torch.copy.to_vtensor", "torch.overwrite.tensor.contents"
"""The value that memory, a `!torch.tensor`, holds; the write of a value to all of it."""

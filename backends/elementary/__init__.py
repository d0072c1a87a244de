"""Our own code for elementary functions of float32, in place of IREE's, which is several times less exact than ATen's.

A region says `torch.aten.tanh` until it is handed to IREE: only the text that IREE compiles holds what stands here.
docs/decisions/0033-elementary-functions.md has the errors.
"""

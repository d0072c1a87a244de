"""The IR: the `dovetail` dialect, what we need to know of torch's, and the one door to an MLIR context."""

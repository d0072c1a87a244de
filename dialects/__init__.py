"""The IR: the `dovetail` dialect, what we need to know of torch's, and the one door to an MLIR context.

All read it, and it imports nothing of ours: no pass, and nothing that runs.
"""

"""Compiles regions: IREE in worker processes with bounds, and a cache of what came out.

Nothing here knows a device's kernels: these are the targets'.
"""

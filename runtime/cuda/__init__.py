"""Regions on NVIDIA GPUs: launch plans through the driver, on torch's streams and memory (docs/cuda.md).

Nothing is compiled here, and nothing is asked of IREE.
"""

"""Launches of regions: by plans on torch's threads, else by IREE's runtime on the CPU.

What is a GPU's stands in `runtime/cuda`; nothing here decides what a region computes.
"""

"""Decides what runs each op, IREE or ATen, and outlines regions for it.

What a region then looks like inside is decided in `passes.regions`.
"""

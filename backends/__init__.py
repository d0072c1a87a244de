"""Turns regions into code: IREE in worker processes and its cache, and the Python that runs everything else.

Nothing here runs a region, or changes a function of the IR.
"""

"""Runs passes: parses pipelines, writes evidence of failures.

No pass of the compiler lives here, but for the runner of MLIR's own.
"""

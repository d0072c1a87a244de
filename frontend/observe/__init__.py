"""Runs the graph eagerly on tensors without memory and records what a user could observe.

Nothing here makes IR.
"""

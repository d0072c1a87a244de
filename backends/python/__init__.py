"""Emits final IR as Python, for the host program and the reference executor alike.

Regions are called here and compiled elsewhere.
"""

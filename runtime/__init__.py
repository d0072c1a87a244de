"""Runs final IR: prologue, launches, epilogue, autograd.

Imports neither the frontend nor the passes, and decides nothing that the IR could say.
"""

"""Proves that a mutated argument may be written in place, and checks the proof on the result.

A write that is not proved stays a copy at the end of the call.
"""

"""Passes that make a joint graph smaller and keep every value exact.

None moves an op across the border between forward and backward.
"""

"""Takes wrapper subclasses apart before a call and builds them again after it.

The program in between knows plain tensors only.
"""

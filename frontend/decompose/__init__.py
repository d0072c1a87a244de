"""Decompositions and replacements of ops, as PyTorch functions. Whether a backend takes an op is not decided here."""

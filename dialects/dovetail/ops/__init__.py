"""One op a file, but for arithmetic of floats: its class, its verifier and its builder. No pass and no pattern.

Op classes are imported from `dovetail.dialects.dovetail`.
"""

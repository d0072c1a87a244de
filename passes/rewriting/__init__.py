"""What several passes build and change IR with: constants, slices, and rules, which say what replaces an op.

Nothing here decides what to change.
"""

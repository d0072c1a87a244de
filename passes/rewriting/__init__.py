"""What several passes build and change IR with: cloning, constants, slices, and rules, which say what replaces an op.

Nothing here decides what to change.
"""

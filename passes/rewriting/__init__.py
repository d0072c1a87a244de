"""What several passes build and change IR with: cloning, constants, slices, rules and the sweep that applies them.

Nothing here decides what to change.
"""

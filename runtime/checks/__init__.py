"""What must hold of a call's arguments before anything runs: addresses, aliases, sizes.

Nothing here computes, or mends what does not hold.
"""

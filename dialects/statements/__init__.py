"""What a pass states for those that come later, as attributes with names, and how each is read and written.

Nothing here decides what to state.
"""

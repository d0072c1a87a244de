"""A size as one kind of object, a number or a value: its bounds, its arithmetic, the facts that guards state of it.

Nothing here computes elements, or says what an op does.
"""

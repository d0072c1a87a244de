"""What running costs on a target, as measured, and how a GPU shares out a sum: what placement and regions decide by.

Nothing here changes IR.
"""

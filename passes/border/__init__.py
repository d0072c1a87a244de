"""The border to autograd: what the IR states of saved values, so that the runtime only reads it.

Nothing here changes what a function computes.
"""

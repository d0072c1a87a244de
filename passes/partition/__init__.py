"""Cuts the joint graph into `@forward` and `@backward`, and chooses what is saved between them.

Nothing here knows what runs an op.
"""

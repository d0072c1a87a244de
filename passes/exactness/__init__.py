"""Keeps exact comparisons right: what they compare is computed once, or alike on one side.

No op changes here: values are pinned, and what other passes made of them is checked.
"""

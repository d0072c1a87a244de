"""Builds functions that run op by op, for what is asked rarely: a replay of the gradient, a backward of some results.

Nothing here is in an ordinary call, or decides what to compute.
"""

"""Runs the IR of any level op by op, and draws inputs for it: what a pass may not change.

Nothing here is fast, and no compiled call comes here.
"""

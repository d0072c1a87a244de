"""What the IR states of a program's halves, so that the runtime only reads it: of saved values, replays and recordings.

Nothing here changes what a function computes.
"""

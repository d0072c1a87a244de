"""One autograd node for each compiled call: what it keeps, checks and gives.

Values are computed by the program, not here.
"""

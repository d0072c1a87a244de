"""Programs that compute: what a line can be, how arguments are made, and the program of a seed."""

# A seed means the same program as long as this stays; it moves with every change of what is drawn.
GENERATOR = 3

"""Programs that compute tensors whose sizes only data tells, and show, copy and write them."""

# A seed means the same program as long as this stays; a new number of `computations.sizes` needs a new one here.
GENERATOR = 2

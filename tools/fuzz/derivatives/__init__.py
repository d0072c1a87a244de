"""Programs that compute, whose callers take derivatives in other ways than one backward from all results."""

# A seed means the same program as long as this stays; it moves with every change of what is drawn.
GENERATOR = 2

"""Programs that compute until eager refuses a line: wrong types, numbers, shapes and indices on purpose."""

# A seed means the same program as long as this stays; it moves with every change of what is drawn.
GENERATOR = 2

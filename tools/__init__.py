"""Commands: thin shells around the packages, and the checks that `make lint` runs."""

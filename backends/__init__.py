"""Turns regions into callables: IREE in worker processes, its cache, and the reference executor through ATen."""

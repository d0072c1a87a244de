"""That a graph has no key, and why."""


class Unkeyed(Exception):
    """Text can't tell what decides the graph's program; the message names the thing."""

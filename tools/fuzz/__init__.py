"""Seeded random programs, run eagerly and compiled: everything that the caller can observe must be the same."""

import os

# What is compared is what the compiler makes now.
os.environ.setdefault("DOVETAIL_CACHE_PROGRAMS", "0")

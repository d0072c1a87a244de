"""Seeded random programs, run eagerly and compiled: everything that the caller can observe must be the same."""

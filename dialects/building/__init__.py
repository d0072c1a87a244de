"""Builds IR: regions, clones, texts of regions, and forms that canonicalization leaves alone.

Nothing here decides what to build.
"""

"""Checks the plans by which regions run: what is launched, on which memory, in which order."""

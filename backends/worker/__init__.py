"""All that uses IREE's bindings: it runs in a process of its own, so that what goes wrong there ends no user's process.

Nothing here imports torch, nor what runs in the user's process; `agreed.py` alone is imported there.
"""

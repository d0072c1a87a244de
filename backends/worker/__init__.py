"""Runs in a process of its own: all that uses IREE's bindings, so that what goes wrong there ends no user's process."""

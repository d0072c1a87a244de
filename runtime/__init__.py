"""Runs final IR: prologue, launches, epilogue, autograd. Imports neither the frontend nor the passes."""

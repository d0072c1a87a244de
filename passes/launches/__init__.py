"""The level of launch plans: what a region launches, on which memory, in which order; built, and verified.

Plans are made of what the compiler of regions says; nothing here chooses a kernel.
"""

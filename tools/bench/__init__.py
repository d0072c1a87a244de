"""The benchmark: eager, inductor and Dovetail side by side in one process, and the goals that Dovetail is held to.

What runs is here; what a pass costs, and what is saved for a backward, is measured in benchmark/.
"""

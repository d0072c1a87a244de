"""Everything between capture and the backends: the pass base, the pipelines, and one pass a file, in folders by phase.

A pass knows the IR alone: not the graph that was captured, nor what a backend made of a region.
"""

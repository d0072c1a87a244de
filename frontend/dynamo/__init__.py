"""Prepares Dynamo's graph as it comes: subgraphs, assertions, idle dropout, source lines.

Nothing here runs the graph.
"""

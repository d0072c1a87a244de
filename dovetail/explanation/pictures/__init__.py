"""The page that `dovetail.explain(..., html=path)` writes: an explanation's records as one self-contained HTML file.

Nothing here reads the IR.
"""

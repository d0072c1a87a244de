"""Changes regions once they are outlined: destinations, limits, splits, and taking a region back.

No op moves between regions here.
"""

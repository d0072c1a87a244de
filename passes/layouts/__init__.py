"""How values lie in memory where a library's kernel, or the user, cares: the passes that state strides.

Nothing here changes what is computed, or where.
"""

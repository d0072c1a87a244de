"""`verify-level` and the checks that it is made of: what each level of the IR may hold.

Checks read the IR and change nothing.
"""

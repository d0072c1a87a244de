"""What PyTorch says of its ops and types: kinds, memory of results, strides, element types.

Tables, and rules of layout; held against PyTorch by tests. Nothing here builds IR.
"""

"""What PyTorch says of its ops and types: kinds, memory of results, strides, element types.

Tables that need no torch, held against it by tests.
"""

"""Element types as the extension compares them: by DLPack's numbers of kinds, and by bits."""

_KINDS = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "complex": 5, "bool": 6}
"""By the start of PyTorch's names."""


def kind_of(name: str) -> int:
    """The number of the kind of a type that PyTorch calls `name`, as "float32"."""
    return _KINDS[name.rstrip("0123456789")]

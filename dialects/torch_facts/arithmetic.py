"""Arithmetic of Python's numbers, which sizes are made of: ops of the torch dialect on ints and floats."""

ARITHMETIC = {
    "torch.aten.add.int": "({} + {})",
    "torch.aten.mul.int": "({} * {})",
    "torch.aten.floordiv.int": "({} // {})",
    "torch.aten.remainder.int": "({} % {})",
    "torch.aten.add.float": "({} + {})",
    "torch.aten.sub.float": "({} - {})",
    "torch.aten.neg.float": "(-{})",
    "torch.aten.mul.float": "({} * {})",
    "torch.aten.div.float": "({} / {})",
}
"""By op, what it is in Python, by the texts of its operands."""

CONVERSIONS = {"torch.aten.Int.bool": "int", "torch.aten.Float.Scalar": "float", "torch.aten.Int.Scalar": "int"}
"""Conversions of numbers, by op the Python type; the importer inserts them around constants, too."""

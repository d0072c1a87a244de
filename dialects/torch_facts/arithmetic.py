"""Arithmetic and comparisons of Python's numbers, of which sizes are made: ops on ints and floats."""

from dovetail.dialects.dovetail import PowOp, QuotientOp, SqrtOp

COMPARISONS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "eq": "==", "ne": "!="}
"""Of numbers, Python's signs by the names of its operators."""

ARITHMETIC = {
    "torch.aten.add.int": "({} + {})",
    "torch.aten.mul.int": "({} * {})",
    "torch.aten.floordiv.int": "({} // {})",
    "torch.aten.remainder.int": "({} % {})",
    "torch.prim.max.int": "max({}, {})",
    "torch.aten.ceil.float": "math.ceil({})",
    **{f"torch.aten.{name}.int": f"({{}} {sign} {{}})" for name, sign in COMPARISONS.items()},
    **{f"torch.aten.{name}.float": f"({{}} {COMPARISONS[name]} {{}})" for name in ("ge", "gt", "lt", "eq")},
    "torch.aten.__and__.bool": "({} and {})",
    "torch.aten.__or__.bool": "({} or {})",
    "torch.aten.__not__": "(not {})",
    "torch.aten.add.float": "({} + {})",
    "torch.aten.sub.float": "({} - {})",
    "torch.aten.neg.float": "(-{})",
    "torch.aten.mul.float": "({} * {})",
    "torch.aten.div.float": "({} / {})",
    PowOp.OPERATION_NAME: "math.pow({}, {})",
    QuotientOp.OPERATION_NAME: "quotient({}, {})",
    SqrtOp.OPERATION_NAME: "math.sqrt({})",
}
"""By op, what it is in Python, by the texts of its operands."""

CONVERSIONS = {
    "torch.aten.Int.bool": "int",
    "torch.aten.Int.float": "math.trunc",
    "torch.aten.Int.Scalar": "int",
    "torch.aten.Float.Scalar": "float",
}
"""Conversions of numbers, by op what Python calls it; the importer inserts them around constants, too."""

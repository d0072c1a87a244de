"""Lines that call `checkpoint`, of what they pass and of what the region has by its closure."""

from dovetail.tools.fuzz.rules import Make, Rule, is_float

NAME = "checkpoint"


def _where_floats(template: str) -> Make:
    """The line, where all tensors can have gradients: others `checkpoint` has nothing to recompute for."""
    return lambda draw, tensors: template if all(map(is_float, tensors)) else None


def _region(body: str, passed: str = "") -> str:
    return f"{NAME}({body}{passed}, use_reentrant=False)"


REGIONS = (
    Rule(3, _where_floats(_region("lambda each: (each * {1}).sin()", ", {0}")), operands=2),
    Rule(2, _where_floats(_region("lambda: ({0} * {1}).sin()")), operands=2),
    Rule(2, _where_floats(_region("lambda each, other: (each * other).sin()", ", {0}, {1}")), operands=2),
    Rule(1, _where_floats(_region("lambda each: each.sin() + {1}", ", {0}")), operands=2),
    Rule(1, _where_floats(_region("lambda each: (each.view(-1)[:2] * {1}.view(-1)[:1]).exp()", ", {0}")), operands=2),
    Rule(1, _where_floats(_region("lambda: ({0} * 2).add_({1}).sin()")), operands=2),
    Rule(1, _where_floats(_region(f"lambda each: {_region('lambda: (each * {1}).sin()')}.cos()", ", {0}")), operands=2),
    Rule(0.5, _where_floats(_region("lambda each: each.view(-1)", ", {0}"))),
)

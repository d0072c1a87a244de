"""Lines that compute new tensors: few ops, exact or well conditioned, so that what differs is not rounding."""

import torch

from dovetail.tools.fuzz.rules import Rule, always, is_float, where


def _is_square(tensor: torch.Tensor) -> bool:
    return tensor.ndim == 2 and tensor.shape[0] == tensor.shape[1] and tensor.is_floating_point()


VALUES = (
    Rule(4, always("{0} + {1}"), operands=2),
    Rule(4, always("{0} * {1}"), operands=2),
    Rule(2, always("{0} - {1}"), operands=2),
    Rule(3, always("{0} * 2")),
    Rule(2, always("{0} - 0.5")),
    Rule(3, where(is_float, "{0}.sin()")),
    Rule(1.5, where(lambda each: each.ndim == 2 and each.is_floating_point(), "{0} @ {0}.t()")),
    Rule(1, where(_is_square, "{0} @ {1}"), operands=2),
    Rule(1.5, always("{0}.sum()")),
    Rule(1, where(lambda each: each.ndim > 0, "{0}.sum(0)")),
    Rule(1, always("torch.cat([{0}, {1}])"), operands=2),
    Rule(1, always("torch.stack([{0}, {1}])"), operands=2),
    Rule(1, where(is_float, "torch.where({0} > 0.1, {0}, {1})"), operands=2),
    Rule(1, where(is_float, "{0}.relu()")),
    Rule(3, always("{0}.clone()")),
    Rule(2, always("{0}.contiguous()")),
    Rule(1, always("{0}.to(torch.float64)")),
    Rule(1, always("{0}.to(torch.float32)")),
    Rule(0.3, always("{0}.to(torch.bfloat16)")),
    Rule(0.5, always("{0}.reshape(-1).clone()")),
    Rule(1, always("torch.zeros_like({0})")),
    Rule(0.5, always("torch.ones_like({0}) * 3")),
)

# What these give hangs on how often their operand was written, by whom ever.
VERSIONS = (
    Rule(2, always("{0} * ({0}._version + 1)")),
    Rule(1, always("{0} + 1 if {0}._version == 0 else {0} * 2")),
    Rule(1, always("{0}._version")),
)

# Draw random numbers, or break the graph.
SPECIAL = (
    Rule(1, where(is_float, "torch.nn.functional.dropout({0}, 0.5)")),
    Rule(0.5, where(is_float, "torch.rand_like({0})")),
    Rule(0.7, where(is_float, "torch.nn.functional.layer_norm({0}, {0}.shape[-1:])")),
    Rule(0.3, where(lambda each: each.numel() == 1, "{0}.item()")),
)

CUSTOM = (
    Rule(1, where(is_float, "Square.apply({0})"), helper="Square"),
    Rule(1, where(is_float, "Flat.apply({0})"), helper="Flat"),
    Rule(1, where(is_float, "AddOne.apply({0})"), helper="AddOne"),
)

# In modules whose buffers are a running mean and variance of two features.
BATCH_NORM = Rule(1, always("torch.nn.functional.batch_norm({0}, self.mean, self.var, training=True)"))

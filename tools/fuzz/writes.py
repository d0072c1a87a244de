"""Lines that write in place: data, parts of it, sizes and strides."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.rules import Make, Rule, always, is_float, part, some_dim, where, where_distinct


def _number(tensor: torch.Tensor, draw: Random) -> str:
    if tensor.dtype == torch.bool:
        return draw.choice(["True", "False"])
    return draw.choice(["1", "2", "-1", "3"]) if not is_float(tensor) else draw.choice(["1", "0.5", "-1.25", "2"])


def _with_number(template: str) -> Make:
    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str:
        return template.replace("NUMBER", _number(tensors[0], draw))

    return make


def _set_item(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    return f"{{0}}[{found}] = {_number(tensors[0], draw)}" if (found := part(draw, tensors[0])) else None


def _set_item_to_tensor(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    return f"{{0}}[{found}] = {{1}}" if (found := part(draw, tensors[0])) else None


def _add_to_part(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    return f"{{0}}[{found}] += {_number(tensors[0], draw)}" if (found := part(draw, tensors[0])) else None


def _through_view(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    view = draw.choice([".view(-1)", ".detach()", ".data", "[...]", ".flatten()"])
    return f"{{0}}{view}.{draw.choice(['add_', 'mul_', 'fill_'])}({_number(tensors[0], draw)})"


def _shifted(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    if not tensors[0].ndim or tensors[0].shape[0] < 2:
        return None
    return draw.choice(
        [
            "{0}[1:].copy_({0}[:-1].clone())",
            "{0}[:-1].copy_({0}[1:].clone())",
            "{0}[1:] = {0}[:-1].clone()",
            "{0}.copy_({0}.flip(0))",
            "{0}[1:] += {0}[:-1].clone()",
            "{0}.add_({0}.sum(0))",
        ]
    )


def _has_rows(tensor: torch.Tensor) -> bool:
    return tensor.ndim > 0 and tensor.shape[0] > 1 and tensor.numel() > 0


def _shows_twice(tensor: torch.Tensor) -> bool:
    """Whether a tensor has more elements than the memory that it shows."""
    steps = zip(tensor.shape, tensor.stride(), strict=True)
    return tensor.numel() > 1 + sum((size - 1) * stride for size, stride in steps)


def _swap(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    first, second = some_dim(draw, tensors[0]), some_dim(draw, tensors[0])
    return None if first is None else f"{{0}}.transpose_({first}, {second})"


WRITES = (
    Rule(5, _with_number("{0}.add_(NUMBER)")),
    Rule(5, _with_number("{0}.mul_(NUMBER)")),
    Rule(2, always("{0}.add_({1})"), operands=2),
    Rule(2, always("{0}.mul_({1})"), operands=2),
    Rule(1, always("{0}.sub_({1})"), operands=2),
    Rule(4, where_distinct("{0}.copy_({1})"), operands=2),
    Rule(1.5, _with_number("{0}.fill_(NUMBER)")),
    Rule(1, always("{0}.zero_()")),
    Rule(1, always("{0}.relu_()")),
    Rule(1, where(is_float, "{0}.sin_()")),
    Rule(0.5, where(is_float, "{0}.clamp_(min=-0.75)")),
    Rule(0.7, where(is_float, "{0}.masked_fill_({0} > 0.3, 1.5)")),
    Rule(3, _set_item),
    Rule(3, _set_item_to_tensor, operands=2),
    Rule(2, _add_to_part),
    Rule(3, _through_view),
    Rule(2.5, _shifted),
    Rule(3, where(_shows_twice, "{0}[0].mul_(2)")),
    Rule(2, where(_shows_twice, "{0}[1:] = 3")),
    Rule(0.4, where(is_float, "{0}.uniform_()")),
    Rule(0.4, always("torch._foreach_add_([{0}, {1}], 1)"), operands=2),
    Rule(0.4, always("torch._foreach_mul_([{0}, {1}], [{1}, {0}])"), operands=2),
    Rule(0.4, where(_has_rows, "torch._foreach_sub_([{0}[1:], {0}[:1]], [{0}[1:], {0}[:1]])")),
    Rule(0.4, where(_has_rows, "torch._foreach_add_(list({0}.chunk(2)), 1)")),
)

# Sizes and strides change, the data stays.
RESHAPING_WRITES = (
    Rule(1, where(lambda each: each.ndim == 2, "{0}.t_()")),
    Rule(1, _swap),
    Rule(1, where(lambda each: each.ndim < 4, "{0}.unsqueeze_(0)")),
    Rule(1, always("{0}.squeeze_()")),
)

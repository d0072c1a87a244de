"""Lines that lay a tensor out anew: transposed, sliced, expanded, joined, padded, channels last."""

from collections.abc import Callable, Sequence
from random import Random

import torch

from dovetail.tools.fuzz.rules import Make, Rule, always, some_dim, where
from dovetail.tools.fuzz.views import index, permute

_F = "torch.nn.functional"


def _for_dim(template: str) -> Make:
    """The line for one of the dimensions, written DIM; for tensors that have some, none of them empty."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        dim = some_dim(draw, tensors[0])
        if dim is None or not tensors[0].numel():
            return None
        return template.replace("DIM", str(dim)).replace("SIZE", str(draw.randint(1, tensors[0].shape[dim])))

    return make


def _with_dims(least: int, most: int = 9) -> Callable[[torch.Tensor], bool]:
    return lambda tensor: least <= tensor.ndim <= most


def _reshape(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    count = tensors[0].numel()
    divisors = [each for each in range(1, min(count, 64) + 1) if count % each == 0]
    return f"{{0}}.reshape({draw.choice(divisors)}, -1)" if divisors else None


def _expand(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    if tensors[0].ndim > 3:
        return None
    sizes = [draw.choice([2, 3]) if size == 1 else size for size in tensors[0].shape]
    return f"{{0}}.expand({', '.join(map(str, [draw.choice([1, 2, 5]), *sizes]))})"


def _joined_again(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    """Parts of a tensor that was joined of parts, as writes to one part after the other are traced."""
    rows = tensors[0].shape[0] if tensors[0].ndim else 0
    if rows < 3 or not tensors[0].numel():
        return None
    first, second = sorted(draw.sample(range(1, rows), 2))
    once = f"torch.cat([{{0}}[:{first}] + 1, {{0}}[{first}:{second}] * 2, {{0}}[{second}:]])"
    return f"torch.cat([{once}[:{second}], {{0}}[{second}:] * 3])"


LAYOUTS = (
    Rule(3, where(_with_dims(2), "{0}.transpose(-1, -2)")),
    Rule(2, where(_with_dims(2), "{0}.transpose(0, -1)")),
    Rule(2, where(_with_dims(2), "{0}.transpose(0, 1).contiguous()")),
    Rule(2, permute),
    Rule(3, index),
    Rule(2, _reshape),
    Rule(2, _expand),
    Rule(1, where(_with_dims(0, 3), "{0}.unsqueeze(0)")),
    Rule(1, where(_with_dims(0, 3), "{0}.unsqueeze(-1)")),
    Rule(1, always("{0}.squeeze()")),
    Rule(1.5, where(_with_dims(4, 4), "{0}.contiguous(memory_format=torch.channels_last)")),
    Rule(1, always("{0}.contiguous()")),
    Rule(0.7, always("{0}.clone()")),
    Rule(2, _for_dim("torch.cat([{0}, {1}], DIM)"), operands=2),
    Rule(1.5, _for_dim("torch.cat([{0}[:SIZE], {0}.tanh(), {0}], 0)")),
    Rule(1, _joined_again),
    Rule(1.5, where(_with_dims(0, 3), "torch.stack([{0}, {1}])"), operands=2),
    Rule(1, where(_with_dims(1, 3), "torch.stack([{0}, {1}], -1)"), operands=2),
    Rule(1, _for_dim("{0}.flip(DIM)")),
    Rule(1, _for_dim("{0}.roll(SIZE, DIM)")),
    Rule(1, _for_dim("{0}.chunk(2, DIM)[0]")),
    Rule(1, _for_dim("{0}.unfold(DIM, SIZE, 1)")),
    Rule(1, where(_with_dims(2), "{0}.diagonal()")),
    Rule(1, where(_with_dims(2), "{0}.tril()")),
    Rule(0.7, where(_with_dims(2), "{0}.triu(1)")),
    Rule(1, where(_with_dims(1), f"{_F}.pad({{0}}, (1, 2))")),
    Rule(0.5, where(_with_dims(2), f"{_F}.pad({{0}}, (0, 1, 2, 0), value=0.5)")),
    Rule(0.5, where(_with_dims(3, 4), f"{_F}.pad({{0}}, (1, 0), mode='replicate')")),
    Rule(0.7, _for_dim("{0}.repeat_interleave(2, DIM)")),
)

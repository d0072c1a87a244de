"""Lines that normalise: softmax, norms over features, batches and groups; and losses."""

from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.computations.reductions import over_dim
from dovetail.tools.fuzz.rules import Make, Rule, where

_F = "torch.nn.functional"


def _has_channels(tensor: torch.Tensor) -> bool:
    return is_real(tensor) and tensor.ndim >= 2 and tensor.numel() > tensor.shape[1] > 0


def _fits_last(template: str) -> Make:
    """The line, where the second tensor is as long as the first one's last dimension."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        fits = is_real(tensors[0]) and tensors[1].shape == tensors[0].shape[-1:] and tensors[1].ndim == 1
        return template if fits and tensors[0].dtype == tensors[1].dtype else None

    return make


def _group_norm(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
    if not _has_channels(tensors[0]):
        return None
    channels = tensors[0].shape[1]
    groups = draw.choice([each for each in range(1, min(channels, 64) + 1) if channels % each == 0])
    return f"{_F}.group_norm({{0}}, {groups})"


def _is_table(tensor: torch.Tensor) -> bool:
    return is_real(tensor) and tensor.ndim == 2 and tensor.numel() > 0


NORMALISATION = (
    Rule(3, over_dim("{0}.softmax(DIM)")),
    Rule(1.5, over_dim("{0}.log_softmax(DIM)")),
    Rule(1, over_dim(f"{_F}.normalize({{0}}, dim=DIM)")),
    Rule(2, over_dim(f"{_F}.layer_norm({{0}}, {{0}}.shape[-1:])")),
    Rule(2, _fits_last(f"{_F}.layer_norm({{0}}, {{0}}.shape[-1:], {{1}}, {{1}})"), operands=2),
    Rule(1, over_dim(f"{_F}.rms_norm({{0}}, {{0}}.shape[-1:])")),
    Rule(1, _fits_last(f"{_F}.rms_norm({{0}}, {{0}}.shape[-1:], {{1}})"), operands=2),
    Rule(1.5, where(_has_channels, f"{_F}.batch_norm({{0}}, None, None, training=True)")),
    Rule(1.5, _group_norm),
    Rule(0.5, where(_has_channels, f"{_F}.instance_norm({{0}})")),
    Rule(1, where(_is_table, f"{_F}.cross_entropy({{0}}, torch.arange({{0}}.shape[0]) % {{0}}.shape[1])")),
    Rule(0.7, where(is_real, f"{_F}.mse_loss({{0}}, {{1}}.detach())"), operands=2),
    Rule(0.7, where(is_real, f"{_F}.smooth_l1_loss({{0}}, {{1}})"), operands=2),
    Rule(0.5, where(is_real, f"{_F}.kl_div({{0}}, {{1}}.abs(), reduction='sum')"), operands=2),
)

# In modules whose buffers are a running mean and variance.
RUNNING = Rule(1, where(_has_channels, f"{_F}.batch_norm({{0}}, self.mean, self.var, training=True)"))

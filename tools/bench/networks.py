"""Small networks, each as a module and its input."""

import torch
from torch import nn
from torch.nn import functional

from dovetail.tools.bench.kernels import Work


def mlp(smoke: bool) -> Work:
    """Two linear layers with GELU between."""
    width = 32 if smoke else 256
    return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)), (
        torch.randn(256, width),
    )


class TransformerBlock(nn.Module):
    """A pre-norm transformer block: causal attention, then an MLP; [batch, length, width] in and out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        split = self.queries_keys_values(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = split.transpose(1, 3).unbind(2)
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).flatten(-2))
        return x + self.mlp(x)


def transformer_block(smoke: bool) -> Work:
    """One transformer block on a batch of sequences."""
    width, length = (32, 16) if smoke else (256, 128)
    return TransformerBlock(width, heads=8), (torch.randn(4, length, width),)


def convolution_net(smoke: bool) -> Work:
    """Two convolutions with batch norm and ReLU, then pooling and a linear layer."""
    channels, size = (4, 8) if smoke else (32, 32)
    net = nn.Sequential(
        nn.Conv2d(3, channels, 3, padding=1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(),
        nn.Conv2d(channels, 2 * channels, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * channels),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * channels, 10),
    )
    return net, (torch.randn(16, 3, size, size),)

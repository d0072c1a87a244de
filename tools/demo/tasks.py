"""What is trained: a Hugging Face model in a small configuration, its data, its learning rate."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from dovetail.tools.demo import data

Batch = tuple[torch.Tensor, torch.Tensor]


class LossOf(nn.Module):
    """A Hugging Face model with its loss: `forward(inputs, targets)` gives the mean cross-entropy, a scalar.

    Hugging Face's own losses cast the logits to float32, which would spoil the float64 reference.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        logits = self.model(inputs).logits
        return nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten())


@dataclass(frozen=True)
class Task:
    """A training job. `batch(step)` is a pure function of the step, so that every copy sees the same data.

    It takes another `batch` size too, and another `length` where the inputs have one.
    """

    name: str
    title: str
    model: Callable[[], nn.Module]
    batch: Callable[..., Batch]
    learning_rate: float
    has_length: bool = True

    def build(self) -> LossOf:
        """A new float32 copy in training mode; every call gives the same random weights."""
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return LossOf(self.model()).train()


@dataclass(frozen=True)
class Sizes:
    """Of a language model."""

    width: int = 64
    layers: int = 2
    heads: int = 4
    length: int = 64
    words: int = data.VOCABULARY


SMALL = Sizes()


def _hugging_face(name: str, **settings: Any) -> nn.Module:
    """The model of this class's name. Who names tasks and makes no model is spared a second of imports."""
    import transformers

    made = getattr(transformers, name)
    return made(made.config_class(**settings))


def gpt2(sizes: Sizes = SMALL) -> nn.Module:
    """GPT-2, without dropout since runs are compared."""
    return _hugging_face(
        "GPT2LMHeadModel",
        vocab_size=sizes.words,
        n_positions=sizes.length,
        n_embd=sizes.width,
        n_layer=sizes.layers,
        n_head=sizes.heads,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )


def bert(sizes: Sizes = SMALL) -> nn.Module:
    """BERT, without dropout; its inner layers are twice as wide as it is."""
    return _hugging_face(
        "BertForMaskedLM",
        vocab_size=sizes.words,
        hidden_size=sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        intermediate_size=2 * sizes.width,
        max_position_embeddings=sizes.length,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def llama(sizes: Sizes = SMALL) -> nn.Module:
    """Llama with grouped queries: keys and values have half as many heads."""
    return _hugging_face(
        "LlamaForCausalLM",
        vocab_size=sizes.words,
        hidden_size=sizes.width,
        intermediate_size=2 * sizes.width,
        num_hidden_layers=sizes.layers,
        num_attention_heads=sizes.heads,
        num_key_value_heads=sizes.heads // 2,
        max_position_embeddings=sizes.length,
        use_cache=False,
    )


def resnet(widths: Sequence[int] = (16, 32), channels: int = 1) -> nn.Module:
    """ResNet of one basic layer in each stage, for ten classes."""
    return _hugging_face(
        "ResNetForImageClassification",
        num_channels=channels,
        embedding_size=widths[0],
        hidden_sizes=list(widths),
        depths=[1] * len(widths),
        layer_type="basic",
        num_labels=10,
    )


GPT2 = Task("gpt2", "GPT-2 on English text", gpt2, partial(data.next_token_batch, batch=8, length=64), 1e-3)
BERT = Task("bert", "BERT on English text", bert, partial(data.masked_token_batch, batch=8, length=64), 1e-3)
LLAMA = Task("llama", "Llama on English text", llama, partial(data.next_token_batch, batch=8, length=64), 1e-3)
RESNET = Task("resnet", "ResNet on digits", resnet, partial(data.digits_batch, batch=64), 3e-3, has_length=False)

DEMO_TASKS = (GPT2, RESNET)
ALL_TASKS = (GPT2, BERT, LLAMA, RESNET)

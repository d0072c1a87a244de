"""What is trained: a Hugging Face model in a small configuration, its data, its learning rate."""

from collections.abc import Callable
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


def _hugging_face(name: str, **settings: Any) -> nn.Module:
    """The model of this class's name. Who names tasks and makes no model is spared a second of imports."""
    import transformers

    made = getattr(transformers, name)
    return made(made.config_class(**settings))


def gpt2() -> nn.Module:
    """GPT-2 with two layers of width 64; the compared run has no dropout."""
    return _hugging_face(
        "GPT2LMHeadModel",
        vocab_size=data.VOCABULARY,
        n_positions=64,
        n_embd=64,
        n_layer=2,
        n_head=4,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )


def bert() -> nn.Module:
    """BERT with two layers of width 64, without dropout."""
    return _hugging_face(
        "BertForMaskedLM",
        vocab_size=data.VOCABULARY,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def llama() -> nn.Module:
    """Llama with two layers of width 64 and grouped queries (four heads, two of keys and values)."""
    return _hugging_face(
        "LlamaForCausalLM",
        vocab_size=data.VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
        use_cache=False,
    )


def resnet() -> nn.Module:
    """ResNet with two stages of one basic layer each, for one channel and ten classes."""
    return _hugging_face(
        "ResNetForImageClassification",
        num_channels=1,
        embedding_size=16,
        hidden_sizes=[16, 32],
        depths=[1, 1],
        layer_type="basic",
        num_labels=10,
    )


GPT2 = Task("gpt2", "GPT-2 on English text", gpt2, partial(data.next_token_batch, batch=8, length=64), 1e-3)
BERT = Task("bert", "BERT on English text", bert, partial(data.masked_token_batch, batch=8, length=64), 1e-3)
LLAMA = Task("llama", "Llama on English text", llama, partial(data.next_token_batch, batch=8, length=64), 1e-3)
RESNET = Task("resnet", "ResNet on digits", resnet, partial(data.digits_batch, batch=64), 3e-3, has_length=False)

DEMO_TASKS = (GPT2, RESNET)
ALL_TASKS = (GPT2, BERT, LLAMA, RESNET)

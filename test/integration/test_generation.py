"""Text generation by Hugging Face's models: caches that grow and caches of one size, batches of any length.

0 and 1 are special to PyTorch, so what Dynamo compiles is known: a program each for the prompt and for the next token,
of the first sizes, of other lengths, of other batches too.
"""

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import dovetail

PROMPTS = ((2, 5), (3, 9), (4, 6), (3, 4), (5, 8))


def gpt2() -> torch.nn.Module:
    sizes = {"n_positions": 32, "n_embd": 16, "n_layer": 1, "n_head": 2}
    return GPT2LMHeadModel(GPT2Config(vocab_size=37, bos_token_id=1, eos_token_id=36, pad_token_id=0, **sizes))


def llama() -> torch.nn.Module:
    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "max_position_embeddings": 32}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return LlamaForCausalLM(
        LlamaConfig(vocab_size=37, bos_token_id=1, eos_token_id=36, pad_token_id=0, **sizes, **heads)
    )


def padded_prompts():
    """Prompts of one batch have several lengths."""
    for rows, length in PROMPTS:
        ids = torch.randint(2, 36, (rows, length))
        mask = (torch.arange(length) >= torch.arange(rows)[:, None].clamp(max=length - 2)).long()
        yield {"input_ids": ids * mask, "attention_mask": mask}


@pytest.mark.parametrize(("make", "cache", "most"), [(gpt2, "dynamic", 5), (llama, "static", 4)])
def test_generated_tokens(op_by_op, make, cache, most):
    """A token is another than eager's, or each length has a program of its own."""
    torch.manual_seed(0)
    model, settings = make().eval(), {"max_new_tokens": 4, "do_sample": False}
    if cache == "static":
        settings["cache_implementation"] = "static"
    prompts = list(padded_prompts())
    expected = [model.generate(**each, **settings) for each in prompts]
    model.forward = torch.compile(model.forward, backend="dovetail")
    dovetail.stats(reset=True)
    for prompt, tokens in zip(prompts, expected, strict=True):
        assert torch.equal(model.generate(**prompt, **settings), tokens)
    stats = dovetail.stats()
    assert not stats.eager
    assert not stats.specialised
    assert stats.graphs <= most

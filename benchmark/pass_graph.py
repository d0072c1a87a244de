"""GPT-2's joint graph at any depth, captured once and kept as text."""

import torch
import transformers

from dovetail.dialects.context import make_context
from dovetail.frontend.capture import capture
from dovetail.frontend.dynamo.graph import lift_attributes
from dovetail.frontend.to_ir.importer import import_capture
from dovetail.tools.demo.tasks import LossOf

BATCH, LENGTH = 2, 128


def gpt2_joint_graph(layers: int) -> str:
    """The module at level `joint`, with locations, of GPT-2 small with another number of `layers`, and its loss.

    The weights are memory that nobody ever writes or reads: capture looks at shapes only.
    """
    with torch.device("meta"):
        model = LossOf(transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=layers, use_cache=False)))
    model.to_empty(device="cpu").train()
    model.model.tie_weights()
    texts: list[str] = []

    def keep_text(gm: torch.fx.GraphModule, inputs: list):
        lifted_gm, lifted = lift_attributes(gm)
        module = import_capture(capture(lifted_gm, [*lifted, *inputs]), make_context())
        texts.append(module.operation.get_asm(enable_debug_info=True))
        return lambda *_: (torch.zeros(()),)

    torch.compiler.reset()
    tokens = torch.zeros(BATCH, LENGTH, dtype=torch.long)
    torch.compile(model, backend=keep_text, fullgraph=True)(tokens, tokens)
    (text,) = texts
    return text

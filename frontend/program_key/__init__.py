"""What decides what a Dynamo graph is compiled to, as text: equal texts, equal programs.

What can't be told by text, such as a user's Python function that the capture would call, has no key (`Unkeyed`).
Nothing is captured or compiled here.
"""

from collections.abc import Sequence

import torch

from dovetail.frontend.program_key.arguments import arguments_text
from dovetail.frontend.program_key.graph import graph_text
from dovetail.frontend.program_key.process import process_text


def call_text(gm: torch.fx.GraphModule, inputs: Sequence) -> str:
    """All of a call of `gm` on `inputs` that decides the program but Dovetail itself, its options and its libraries."""
    return "\n\n".join((graph_text(gm), arguments_text(inputs), process_text()))

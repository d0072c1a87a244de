"""`with_effects` nodes, by which tracing orders ops with effects: `with_effects(token, op, *arguments)`.

Library calls with effects keep their order in the IR, so tokens are no values there.
"""

import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line

REASON = "effect: ordered, as registered for the op"


def import_with_effects(importer, node: torch.fx.Node) -> None:
    """Imports the op as a library call; the node's results are the next token, which is bound to nothing, and its."""
    _, target, *arguments = node.args
    if not isinstance(target, torch._ops.OpOverload):
        raise UnsupportedError(f"{source_line(node)}: effects of {target} are not supported, expected an operator")
    values = list(node.meta["val"])[1:] if target._schema.returns else []
    results = [importer._cc.value_info_to_type(value) for value in values]
    op = importer.library_call(node, target, REASON, arguments, node.kwargs, results)
    importer.bind_results(node, [None, *op.results])

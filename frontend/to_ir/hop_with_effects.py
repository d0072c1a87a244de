"""`with_effects` nodes, by which tracing orders ops with effects: `with_effects(token, op, *arguments)`.

Library calls with effects keep their order in the IR, so tokens are no values there.
"""

import torch
from torch_mlir import ir

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line

REASON = "effect: ordered, as registered for the op"


def import_with_effects(importer, loc: ir.Location, node: torch.fx.Node) -> None:
    """Imports the op as a library call; the node's results are the next token, which is bound to nothing, and its."""
    _, target, *arguments = node.args
    if not isinstance(target, torch._ops.OpOverload):
        raise UnsupportedError(f"{source_line(node)}: effects of {target} are not supported, expected an operator")
    schema = target._schema
    values = list(node.meta["val"])[1:] if schema.returns else []
    operands = importer.operands(loc, schema, arguments, node.kwargs)
    results = [importer._cc.value_info_to_type(value) for value in values]
    name = f"{target.namespace}.{target._opname}.{target._overloadname}"
    op = importer.call(loc, node, name, REASON, operands, results)
    importer.state_strides(node, op, schema, arguments, node.kwargs)
    importer.bind_results(node, [None, *op.results])

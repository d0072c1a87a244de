"""One FX node to torch-dialect ops: torch-mlir's importer, and what it would drop or refuse."""

import torch
from torch_mlir import ir
from torch_mlir.extras.fx_importer import GraphNodeImporter

from dovetail.dialects.calls import extern
from dovetail.errors import UnsupportedError

EFFECT_REASON = "effect: random numbers, a check or a mutation"
BACKWARD = "dovetail.backward"


class NodeImporter(GraphNodeImporter):
    """Imports effectful ops as library calls, so that nothing merges, moves or drops them."""

    def _import_torch_op_overload(self, loc, node, concrete_target=None):
        target = concrete_target or node.target
        if has_effect(target):
            self._import_extern(loc, node, target)
            return
        if target is torch.ops.aten.as_strided.default:
            self._import_as_strided(loc, node)
            return
        super()._import_torch_op_overload(loc, node, concrete_target)

    def _import_hop(self, loc, node, target):
        raise UnsupportedError(f"{source_line(node)}: higher-order operator {target} is not supported yet")

    def _import_extern(self, loc, node, target) -> None:
        schema = target._schema
        results = self._unpack_node_result_types(node, schema)
        if len(results) > 1:
            self._multi_result_nodes.add(node)
        name = f"{target.namespace}.{target._opname}.{target._overloadname}"
        with loc:
            op = extern(name, EFFECT_REASON, self._operands(loc, node, schema), results)
        if node.meta.get("partitioner_tag") == "is_backward":
            op.attributes[BACKWARD] = ir.UnitAttr.get(self._c)
        for index, value in enumerate(op.results):
            self.bind_node_value(node, value, index)

    def _import_as_strided(self, loc, node) -> None:
        """`as_strided` sees memory, not values: right only on a tensor that lies as its value does."""
        base = node.args[0].meta["val"]
        if not base.is_contiguous() or base.storage_offset() != 0:
            raise UnsupportedError(f"{source_line(node)}: as_strided of a non-contiguous tensor is not supported yet")
        op = ir.Operation.create(
            "torch.aten.as_strided",
            results=[self._cc.node_val_to_type(node)],
            operands=self._operands(loc, node, node.target._schema),
            loc=loc,
        )
        self.bind_node_value(node, op.result)

    def _operands(self, loc, node, schema) -> list[ir.Value]:
        """One value for each schema argument, defaults included."""
        operands = []
        for index, argument in enumerate(schema.arguments):
            if index < len(node.args):
                operands.append(self._import_argument(loc, node.args[index], argument.type))
            elif argument.name in node.kwargs:
                operands.append(self._import_argument(loc, node.kwargs[argument.name], argument.type))
            else:
                operands.append(self._import_default_value(loc, argument.default_value, argument.type))
        return operands


def has_effect(target: torch._ops.OpOverload) -> bool:
    """Whether running `target` twice, or not at all, or elsewhere could be noticed."""
    return (
        torch.Tag.nondeterministic_seeded in target.tags
        or target._schema.is_mutable
        or not target._schema.returns
        or target in torch.fx.node._side_effectful_functions
    )


def source_line(node: torch.fx.Node) -> str:
    """The user's source line that `node` comes from, as "file:line", or the node's name."""
    trace = node.meta.get("stack_trace") or ""
    frames = [line.strip() for line in trace.splitlines() if line.strip().startswith('File "')]
    return (
        frames[-1].split(", in ")[0].replace('File "', "").replace('", line ', ":") if frames else f"node {node.name}"
    )

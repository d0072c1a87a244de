"""One FX node to torch-dialect ops: torch-mlir's importer, and what it would drop or refuse."""

import torch
from torch_mlir import ir
from torch_mlir.extras.fx_importer import GraphNodeImporter

from dovetail.dialects.calls import FALLBACK, extern
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
        if target is torch.ops.aten.slice_scatter.default:
            self._import_slice_scatter(loc, node)
            return
        super()._import_torch_op_overload(loc, node, concrete_target)

    def _import_hop(self, loc, node, target):
        raise UnsupportedError(f"{source_line(node)}: higher-order operator {target} is not supported yet")

    def _import_extern(self, loc, node, target, reason: str = EFFECT_REASON) -> None:
        schema = target._schema
        results = self._unpack_node_result_types(node, schema)
        if len(results) > 1:
            self._multi_result_nodes.add(node)
        name = f"{target.namespace}.{target._opname}.{target._overloadname}"
        with loc:
            op = extern(name, reason, self._operands(loc, node, schema), results)
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

    def _import_slice_scatter(self, loc, node) -> None:
        """As the concatenation of what stays and what is new.

        IREE writes a slice into the memory of the tensor that it is scattered into, even if that is an argument's, and
        while it still reads a slice of it.
        """
        base, source, dim, start, end, step = _slice_arguments(node)
        if step != 1:
            self._import_extern(loc, node, node.target, f"{FALLBACK}slice_scatter with step {step}")
            return
        kept = [(0, start), (end, base.meta["val"].size(dim))]
        before, after = (self._slice(loc, base, dim, *each) if each[0] < each[1] else None for each in kept)
        parts = [part for part in (before, self.resolve_node_value(source), after) if part is not None]
        with loc:
            tensors = ir.Type.parse("!torch.list<vtensor>", self._c)
            listed = ir.Operation.create("torch.prim.ListConstruct", results=[tensors], operands=parts).result
            operands = [listed, self._import_argument(loc, dim)]
            op = ir.Operation.create("torch.aten.cat", results=[self._cc.node_val_to_type(node)], operands=operands)
        self.bind_node_value(node, op.result)

    def _slice(self, loc, base: torch.fx.Node, dim: int, start: int, end: int) -> ir.Value:
        value = base.meta["val"]
        shape = [*value.shape[:dim], end - start, *value.shape[dim + 1 :]]
        numbers = [self._import_argument(loc, number) for number in (dim, start, end, 1)]
        return ir.Operation.create(
            "torch.aten.slice.Tensor",
            results=[self._cc.create_vtensor_type(value.dtype, torch.Size(shape))],
            operands=[self.resolve_node_value(base), *numbers],
            loc=loc,
        ).result

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


def _slice_arguments(node) -> tuple:
    """(base, source, dim, start, end, step) of a `slice_scatter`, within bounds."""
    base, source, *rest = node.args
    given = dict(zip(("dim", "start", "end", "step"), rest, strict=False)) | node.kwargs
    dim = given.get("dim", 0) % base.meta["val"].dim()
    size = base.meta["val"].size(dim)
    start, end, step = slice(given.get("start"), given.get("end"), given.get("step", 1)).indices(size)
    return base, source, dim, start, max(start, end), step


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

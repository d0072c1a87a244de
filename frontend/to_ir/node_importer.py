"""One FX node to torch-dialect ops: torch-mlir's importer, and what it would drop or refuse."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import filterfalse

import torch
from torch.utils._pytree import tree_leaves
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras.fx_importer import GraphNodeImporter

from dovetail.dialects.attributes import IN_BACKWARD, RECOMPUTE
from dovetail.dialects.statements.calls import extern
from dovetail.dialects.statements.effects import Effect, effect_of, state_effect
from dovetail.dialects.statements.operand_strides import Stated
from dovetail.dialects.torch_facts.names import UNPACK
from dovetail.dialects.torch_facts.ops import op_name
from dovetail.dialects.torch_facts.scalar_types import SCALAR_TYPES
from dovetail.errors import UnsupportedError
from dovetail.frontend.devices import CPU_DEVICE, with_index
from dovetail.frontend.dynamo.open_sizes import is_open_value, known
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.bound_arguments import bound, schema
from dovetail.frontend.to_ir.checkpoint_tags import recompute_policy
from dovetail.frontend.to_ir.hop_control_flow import import_cond, import_while_loop
from dovetail.frontend.to_ir.hop_effects import (
    import_auto_functionalized,
    import_auto_functionalized_v2,
    import_with_effects,
)
from dovetail.frontend.to_ir.memory_ops import import_as_strided, import_slice_scatter
from dovetail.frontend.to_ir.number_nodes import bind_number, define_sizes
from dovetail.frontend.to_ir.open_numbers import OpenNumbers, OpenTypes
from dovetail.frontend.to_ir.operand_strides import state_strides

EFFECT_REASON = "effect: random numbers, a check or a mutation"

# Forward-mode gradients are zeros without memory, which only a dispatch key says: kernels would read what lies there.
_WITH_MEMORY = {torch.ops.aten._efficientzerotensor.default: torch.ops.aten.zeros.default}

# By the operator's name; each takes the importer, the location and the node.
HIGHER_ORDER: dict[str, Callable] = {
    "auto_functionalized": import_auto_functionalized,
    "auto_functionalized_v2": import_auto_functionalized_v2,
    "cond": import_cond,
    "while_loop": import_while_loop,
    "with_effects": import_with_effects,
}


class NodeImporter(GraphNodeImporter):
    """Imports effectful ops as library calls, so that nothing merges, moves or drops them."""

    def __init__(self, fx_importer, context, context_cache, block):
        super().__init__(fx_importer, context, context_cache, block)
        self.symbols: Counter[str] = Counter()  # how many functions of each role were made, for their names
        self.is_nested = False
        self.is_backward = False  # whether what is imported depends on a tangent
        self.is_double = False  # whether what is imported computes in float64
        self.operand_strides: Mapping[torch.fx.Node, Sequence[Stated]] = {}  # of eager's calls
        self.home = CPU_DEVICE  # whose memory the IR does not name
        self.placed: list[tuple[ir.Value, torch.device]] = []  # where values lie, of a program for a GPU
        self.open = OpenNumbers(())

    @property
    def types(self) -> OpenTypes:
        """Makes the types of values."""
        return self._cc

    def nested(self, function_op: func.FuncOp) -> "NodeImporter":
        """The importer of a graph inside of this one, into the body of a function that has none yet."""
        inner = NodeImporter(self.fx_importer, self._c, self._cc, function_op.add_entry_block())
        inner.symbols, inner.operand_strides, inner.is_nested = self.symbols, self.operand_strides, True
        inner.home, inner.placed = self.home, self.placed
        inner.open = self.open
        return inner

    def import_nodes(self, nodes: Iterable[torch.fx.Node], **options: bool) -> None:
        super().import_nodes(filterfalse(partial(bind_number, self), nodes), **options)

    def location(self, node: torch.fx.Node) -> ir.Location:
        """The user's line that `node` comes from."""
        return self._cc.get_node_location(node) or ir.Location.unknown()

    def argument(self, value: object, jit_type: object = None) -> ir.Value:
        """What an op takes as `value`, as from the current location."""
        return self._import_argument(ir.Location.current, value, jit_type)

    def bind_node_value(self, node: torch.fx.Node, value: ir.Value, result_idx: int = 0) -> None:
        """Also notes where the value lies, for `state_devices`."""
        super().bind_node_value(node, value, result_idx)
        made = node.meta.get("val")
        made = made[result_idx] if isinstance(made, list | tuple) and result_idx < len(made) else made
        self._note_device(value, made)
        if node.op == "call_function" and isinstance(made, torch.Tensor) and isinstance(value, ir.Value):
            define_sizes(self, node, value, made)

    def _note_device(self, value: ir.Value, made: object) -> None:
        if self.home != CPU_DEVICE and isinstance(made, torch.Tensor) and isinstance(value, ir.Value):
            self.placed.append((value, made.device))

    def _import_literal(self, py_value, info=None) -> ir.Value:
        value = super()._import_literal(py_value, info)
        self._note_device(value, py_value)
        return value

    def bind_results(self, node: torch.fx.Node, values: Sequence[ir.Value | None]) -> None:
        """Binds what `getitem` takes from `node`, by position; None where there is no value to take."""
        self._multi_result_nodes.add(node)
        for index, value in enumerate(values):
            if value is not None:
                self.bind_node_value(node, value, index)

    def mark_backward(self, node: torch.fx.Node, op: ir.Operation) -> None:
        """Says of an effect that the backward has it, though it may use no tangent."""
        if self.is_backward or node.meta.get("partitioner_tag") == "is_backward":
            op.attributes[IN_BACKWARD] = ir.UnitAttr.get(self._c)

    def call(self, node, name: str, reason: str, operands, results, is_fallback: bool = False) -> ir.Operation:
        """Builds a library call on behalf of `node`."""
        op = extern(name, reason, operands, results, is_fallback)
        self.mark_backward(node, op)
        return op

    def library_call(
        self, node, target, reason: str, args: Sequence, kwargs: Mapping, results, is_fallback: bool = False
    ) -> ir.Operation:
        """Builds a library call of the op `target`, which states how its operands lie in memory if it may see that."""
        operands = self.operands(target, args, kwargs)
        op = self.call(node, op_name(target), reason, operands, results, is_fallback)
        state_effect(op, effect(target))
        state_strides(op, target, args, kwargs, self.operand_strides.get(node), self.open)
        return op

    def _import_getitem(self, loc, node):
        source, index = node.args
        if source in self._multi_result_nodes and (source, index) not in self._v:
            return  # no value: an effect token, or what an operator that returns nothing returns
        super()._import_getitem(loc, node)
        if source in self._unpack_list_values:
            self.open.state(self._unpack_list_values[source][0].owner, source.meta["val"])

    def _import_torch_op_overload(self, loc, node, concrete_target=None):
        if any(isinstance(leaf, complex) for leaf in tree_leaves((node.args, node.kwargs))):
            raise UnsupportedError(f"{source_line(node)}: a complex number is not supported, expected a complex tensor")
        with loc:
            self._import_overload(loc, node, concrete_target)
        # What control flow runs, it runs as a whole: nothing inside of it is saved by itself.
        policy = None if self.is_nested else recompute_policy(node)
        value = self._v.get((node, 0))
        if value is not None:
            self.open.state(value.owner, node.meta.get("val"))
        if policy is not None and value is not None:
            value.owner.attributes[RECOMPUTE] = ir.StringAttr.get(policy, self._c)

    def _import_overload(self, loc, node, concrete_target):
        target = concrete_target or node.target
        if effect(target) is not None:
            self.import_extern(node, target)
            return
        if target is torch.ops.aten.as_strided.default:
            import_as_strided(self, node)
            return
        if target is torch.ops.aten.slice_scatter.default:
            import_slice_scatter(self, node)
            return
        self.is_double = _is_double(node)
        super()._import_torch_op_overload(loc, node, _WITH_MEMORY.get(target, concrete_target))
        # The results of an op that returns a list are taken from it.
        owner = self._v[node, 0].owner
        op = owner.operands[0].owner if owner.name == UNPACK else owner
        state_strides(op.operation, target, node.args, node.kwargs, self.operand_strides.get(node), self.open)

    def _import_scalar_as_tensor(self, loc, arg):
        """Of a number in a tensor's place; torch-mlir makes float32 of it, beside float64 numbers, too."""
        value = super()._import_scalar_as_tensor(loc, arg)
        if self.is_double and isinstance(arg, float):
            value.set_type(self._cc.get_vtensor_type(torch.Size([]), torch.float64))
        return value

    def _import_hop(self, loc, node, target):
        handler = HIGHER_ORDER.get(target.name())
        if handler is None:
            raise UnsupportedError(f"{source_line(node)}: higher-order operator {target} is not supported yet")
        with loc:
            handler(self, node)

    def import_extern(self, node, target, reason: str = EFFECT_REASON, is_fallback: bool = False) -> None:
        results = self._unpack_node_result_types(node, target._schema)
        if len(results) > 1:
            self._multi_result_nodes.add(node)
        op = self.library_call(node, target, reason, node.args, node.kwargs, results, is_fallback)
        for index, value in enumerate(op.results):
            self.bind_node_value(node, value, index)

    def _import_argument(self, loc, arg, expected_jit_type=None):
        """torch-mlir's numbers for complex element types are one too high, and None is a number in a tensor's place."""
        arg = known(arg)
        if is_open_value(arg):
            with loc:
                return self.open.value(arg)
        if arg is None:
            expected_jit_type = None  # attention's kernels take none
        if isinstance(arg, torch.dtype):
            arg = SCALAR_TYPES.index(str(arg).removeprefix("torch."))
        if isinstance(arg, torch.device):
            arg = with_index(arg)
        return super()._import_argument(loc, arg, expected_jit_type)

    def operands(self, target: torch._ops.OpOverload, args: Sequence, kwargs: Mapping) -> list[ir.Value]:
        """One value for each argument of `target`, defaults included; what is a value already is taken as it is."""
        given = bound(target, args, kwargs)
        return [self._operand(argument, given.get(argument.name, argument)) for argument in schema(target)]

    def _operand(self, argument: torch.Argument, given: object) -> ir.Value:
        if given is argument:
            return self._import_default_value(ir.Location.current, argument.default_value, argument.type)
        return given if isinstance(given, ir.Value) else self.argument(given, argument.type)


def _is_double(node: torch.fx.Node) -> bool:
    values = [operand.meta.get("val") for operand in node.all_input_nodes]
    return any(isinstance(value, torch.Tensor) and value.dtype in (torch.float64, torch.complex128) for value in values)


def effect(target: torch._ops.OpOverload) -> Effect | None:
    """What could be noticed if `target` ran twice, or not at all, or elsewhere; None if nothing."""
    is_marked = target in torch.fx.node._side_effectful_functions
    return effect_of(target) or (Effect.OTHER if is_marked else None)

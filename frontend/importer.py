"""A captured joint graph to the `joint` level of the IR.

Only dataflow says what the user observes: a result is returned as the ref that it is, a mutation is a write to the
argument's ref, a gradient is tied to its input. See docs/ir-levels.md.
"""

from collections.abc import Iterable

import torch
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras.fx_importer import FxImporter

from dovetail.dialects.calls import MUTATED
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.dovetail.ops.detach import detach
from dovetail.dialects.dovetail.ops.gradient import gradient
from dovetail.dialects.dovetail.ops.own import own
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.dovetail.ops.set_metadata import set_metadata
from dovetail.dialects.dovetail.ops.tangent import tangent
from dovetail.dialects.dovetail.ops.view import view
from dovetail.dialects.dovetail.ops.write import write
from dovetail.errors import UnsupportedError
from dovetail.frontend.node_importer import NodeImporter
from dovetail.frontend.records import Capture, Input, Output, ViewStep


def import_capture(capture: Capture, context: ir.Context) -> ir.Module:
    """Returns a module at level `joint` with the one function `@joint`.

    Raises:
        UnsupportedError: for a node, argument or result that the IR can't hold yet, naming it.
    """
    with context, ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes["dovetail.level"] = ir.StringAttr.get("joint")
        _Joint(capture, module).build()
        module.operation.verify()
    return module


class _Joint:
    """Builds `@joint`, front to back."""

    def __init__(self, capture: Capture, module: ir.Module):
        self.capture = capture
        importer = FxImporter(module=module, config_check=False, graph_node_importer_cls=NodeImporter)
        self.types = importer._cc
        arguments = [self._argument_type(argument) for argument in capture.inputs]
        with ir.InsertionPoint(module.body):
            self.func = func.FuncOp("joint", ir.FunctionType.get(arguments, []))
        self.func.attributes["arg_attrs"] = ir.ArrayAttr.get([_attributes(argument) for argument in capture.inputs])
        block = self.func.add_entry_block()
        self.nodes = NodeImporter(importer, module.context, self.types, block)
        self.block = block
        self.arguments = list(block.arguments)
        self.tangents: list[tuple[torch.fx.Node, ir.Value]] = []

    def build(self) -> None:
        calls = self.capture.graph.nodes
        backward = _dependents(self.capture.tangents)
        with ir.InsertionPoint(self.block):
            self._guard()
            self._bind_arguments()
            self._import(node for node in calls if node not in backward)
            self._writes()
            results = self._results()
            self._bind_tangents()
            self._import(node for node in calls if node in backward)
            self._gradients()
            func.ReturnOp(results)
        inputs = [argument.type for argument in self.arguments]
        signature = ir.FunctionType.get(inputs, [value.type for value in results])
        self.func.attributes["function_type"] = ir.TypeAttr.get(signature)

    def _guard(self) -> None:
        """Arguments that the call mutates were traced as sharing memory with no other: a later call may differ."""
        tensors = [each for each in zip(self.capture.inputs, self.arguments, strict=True) if each[0].number is None]
        mutated = [each for each in tensors if each[0].mutated_value is not None]
        checked = mutated + [each for each in tensors if each[0].mutated_value is None]
        if not mutated or len(checked) < 2:
            return
        refs = [ref for _, ref in checked]
        with ir.InsertionPoint(self.func):
            guard = func.FuncOp("guard", ir.FunctionType.get([ref.type for ref in refs], []), visibility="private")
        guard.attributes[MUTATED] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(mutated))
        names = [ir.DictAttr.get({"dovetail.name": ir.StringAttr.get(argument.name)}) for argument, _ in checked]
        guard.attributes["arg_attrs"] = ir.ArrayAttr.get(names)
        func.CallOp([], "guard", refs)

    def _argument_type(self, argument: Input) -> ir.Type:
        if argument.number is None:
            return self._ref_type(argument.node)
        return self.types.value_info_to_type(argument.number)

    def _ref_type(self, node: torch.fx.Node) -> RefType:
        value = node.meta["val"]
        return RefType.of(self.types.create_vtensor_type(value.dtype, value.size()), tuple(value.stride()))

    def _import(self, nodes: Iterable[torch.fx.Node]) -> None:
        self.nodes.import_nodes(nodes, skip_placeholders_outputs=True)

    def _bind_arguments(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.number is None:
                self.nodes.bind_node_value(argument.node, read(ref).value)

    def _own(self, node: torch.fx.Node, tangent_node: torch.fx.Node | None) -> ir.Value:
        with self.types.get_node_location(node) or ir.Location.unknown():
            ref = own(self.nodes.resolve_node_value(node), self._ref_type(node), tangent_node is not None).ref
        if tangent_node is not None:
            self.tangents.append((tangent_node, ref))
        return ref

    def _writes(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.metadata_view is not None:
                _write_metadata(argument.node.meta["val"], argument.metadata_view.meta["val"], ref)
            if argument.mutated_value is None or argument.mode is None:
                continue
            node = argument.mutated_value
            value = self._own(node, argument.tangent) if argument.tangent else self.nodes.resolve_node_value(node)
            with self.types.get_node_location(node) or ir.Location.unknown():
                write(value, ref, argument.mode)

    def _results(self) -> list[ir.Value]:
        bases = [self._own(base.node, base.tangent) for base in self.capture.bases]
        results: dict[int, ir.Value] = {}
        aliases = []
        for index, output in enumerate(self.capture.outputs):
            if output.kind == "fresh":
                results[index] = self._fresh(output)
            else:
                aliases.append((index, output))
        for index, output in aliases:
            results[index] = self._alias(output, self._origin(output, bases, results), index)
        return [results[index] for index in range(len(results))]

    def _origin(self, output: Output, bases: list[ir.Value], results: dict[int, ir.Value]) -> ir.Value:
        """The ref that `output` is, or is a view of."""
        if output.base is None:
            raise UnsupportedError(f"result {output.node}: an alias of which PyTorch does not record the base")
        if output.kind == "view_of_base":
            return bases[output.base]
        return results[output.base] if output.kind == "view_of_output" else self.arguments[output.base]

    def _fresh(self, output: Output) -> ir.Value:
        if isinstance(output.node, torch.fx.Node) and isinstance(output.node.meta["val"], torch.Tensor):
            return self._own(output.node, output.tangent)
        return self.nodes._import_argument(ir.Location.unknown(), output.node)

    def _alias(self, output: Output, origin: ir.Value, index: int) -> ir.Value:
        if output.tangent is not None:
            self._own(output.node, output.tangent)  # gradients take the way through the alias; this one's are zero
        if output.kind == "input":
            return origin
        if output.chain is None:
            raise UnsupportedError(f"result {index}: a view whose view functions PyTorch does not record")
        value, ref = output.node.meta["val"], origin
        for step in output.chain[:-1]:
            ref = self._view(ref, step, None)
        if output.chain:
            ref = self._view(ref, output.chain[-1], value)
        return detach(ref).detached if self._must_detach(output) else ref

    def _must_detach(self, output: Output) -> bool:
        """Whether the view lacks the history that its base has, and no step of its chain drops it."""
        is_dropped = any(step.callee == "aten.detach.default" for step in output.chain or ())
        return output.drops_history and self._has_history(output) and not is_dropped

    def _has_history(self, output: Output) -> bool:
        """Whether the base of `output` is in autograd's graph."""
        if output.base is None:
            return False
        if output.kind == "view_of_input":
            argument = self.capture.inputs[output.base]
            return argument.requires_grad or argument.tangent is not None
        bases = self.capture.bases if output.kind == "view_of_base" else self.capture.outputs
        return bases[output.base].tangent is not None

    def _view(self, ref: ir.Value, step: ViewStep, value: torch.Tensor | None) -> ir.Value:
        """One replayed view; its type is known from `value` for the last step, computed on a stand-in before that."""
        if value is None:
            info = ref.type.info
            stand_in = torch.empty_strided(
                info.shape, ref.type.strides, dtype=getattr(torch, info.dtype), device="meta"
            )
            value = _call(step, stand_in)
        if value.dtype != getattr(torch, ref.type.info.dtype) and step.callee != "aten.view.dtype":
            raise UnsupportedError(
                f"result: replaying the view {step.callee}, which changes the type, is not supported"
            )
        tensor = self.types.create_vtensor_type(value.dtype, value.size())
        view_type = RefType.of(tensor, tuple(value.stride()))
        return view(ref, step.callee, [_attribute(arg) for arg in step.args], view_type, step.output_index).view

    def _bind_tangents(self) -> None:
        for node, ref in self.tangents:
            delivered = tangent(ref, self._ref_type(node)).ref
            self.nodes.bind_node_value(node, read(delivered).value)

    def _gradients(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.gradient is not None:
                gradient(self.nodes.resolve_node_value(argument.gradient), ref)


def _attributes(argument: Input) -> ir.DictAttr:
    attributes: dict[str, ir.Attribute] = {"dovetail.name": ir.StringAttr.get(argument.name)}
    if argument.requires_grad:
        attributes["dovetail.requires_grad"] = ir.UnitAttr.get()
    if argument.static:
        attributes["dovetail.static"] = ir.UnitAttr.get()
    return ir.DictAttr.get(attributes)


def _write_metadata(before: torch.Tensor, after: torch.Tensor, ref: ir.Value) -> None:
    set_metadata(ref, after.size(), after.stride(), int(after.storage_offset() - before.storage_offset()))


def _dependents(roots: Iterable[torch.fx.Node]) -> set[torch.fx.Node]:
    """Every node that is reached from `roots`, them included."""
    reached: set[torch.fx.Node] = set()
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node not in reached:
            reached.add(node)
            pending.extend(node.users)
    return reached


def _call(step: ViewStep, tensor: torch.Tensor) -> torch.Tensor:
    namespace, name, overload = step.callee.split(".")
    result = getattr(getattr(getattr(torch.ops, namespace), name), overload)(tensor, *step.args)
    return result if step.output_index < 0 else result[step.output_index]


def _attribute(value) -> ir.Attribute:
    """A view function's argument as an attribute: integers, booleans, floats, dtypes (by name) and lists of them."""
    match value:
        case bool():
            return ir.BoolAttr.get(value)
        case int():
            return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
        case float():
            return ir.FloatAttr.get_f64(value)
        case torch.dtype():
            return ir.StringAttr.get(str(value).removeprefix("torch."))
        case list() | tuple():
            return ir.ArrayAttr.get([_attribute(item) for item in value])
        case None:
            return ir.UnitAttr.get()
    raise UnsupportedError(f"view argument {value!r} of type {type(value).__name__} is not supported yet")

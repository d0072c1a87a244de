"""A captured joint graph to the `joint` level of the IR.

Only dataflow says what the user observes: a result is returned as the ref that it is, a mutation is a write to the
argument's ref, a gradient is tied to its input. See docs/ir-levels.md.
"""

from collections.abc import Iterable

import torch
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras.fx_importer import FxImporter

from dovetail.dialects.attributes import BASE, DEVICE, FREES, LEVEL, MUTATED, ONCE, TARGET, WRITTEN_LAST
from dovetail.dialects.dovetail import OwnOp, RefType
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.ops.gradient import gradient
from dovetail.dialects.dovetail.ops.own import own
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.dovetail.ops.set_grad_mode import set_grad_mode
from dovetail.dialects.dovetail.ops.set_metadata import set_metadata
from dovetail.dialects.dovetail.ops.tangent import tangent
from dovetail.dialects.dovetail.ops.touch import touch
from dovetail.dialects.dovetail.ops.view import view
from dovetail.dialects.dovetail.ops.write import write
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Role, set_role
from dovetail.dialects.subclasses import set_convention
from dovetail.errors import UnsupportedError
from dovetail.frontend.devices import CPU_DEVICE, named
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.records import Capture, Input, Layout, Mutation, Owned, Result, ViewStep
from dovetail.frontend.to_ir.argument_facts import guarded, reached, stated, watched
from dovetail.frontend.to_ir.device_facts import state_devices
from dovetail.frontend.to_ir.layouts_function import layouts_function
from dovetail.frontend.to_ir.node_importer import NodeImporter


def import_capture(
    capture: Capture, context: ir.Context, target: str = "cpu", home: torch.device = CPU_DEVICE
) -> ir.Module:
    """Returns a module at level `joint` with the one function `@joint`, for `target`; it names all devices but `home`.

    Raises:
        UnsupportedError: for a node, argument or result that the IR can't hold yet, naming it.
    """
    with context, ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes[LEVEL] = ir.StringAttr.get("joint")
        module.operation.attributes[TARGET] = ir.StringAttr.get(target)
        if home.index:
            module.operation.attributes[DEVICE] = ir.StringAttr.get(str(home))
        _Joint(capture, module, home).build()
        module.operation.verify()
    return module


class _Joint:
    """Builds `@joint`, front to back."""

    def __init__(self, capture: Capture, module: ir.Module, home: torch.device):
        self.capture, self.module, self.home = capture, module, home
        importer = FxImporter(module=module, config_check=False, graph_node_importer_cls=NodeImporter)
        self.types = importer._cc
        arguments = [self._argument_type(argument) for argument in capture.inputs]
        with ir.InsertionPoint(module.body):
            self.func = func.FuncOp("joint", ir.FunctionType.get(arguments, []))
            set_role(self.func, Role.JOINT)
        if capture.once is not None:
            self.func.attributes[ONCE] = ir.StringAttr.get(capture.once)
        if capture.written_last is not None:
            self.func.attributes[WRITTEN_LAST] = ir.StringAttr.get(capture.written_last)
        block = self.func.add_entry_block()
        self.nodes = NodeImporter(importer, module.context, self.types, block)
        self.nodes.operand_strides, self.nodes.home = capture.operand_strides, home
        self.block = block
        self.arguments = list(block.arguments)
        self.tangents: list[tuple[torch.fx.Node, ir.Value]] = []
        # By the number of what they hand out among the tensors that leave the call.
        self.owns: dict[int, OwnOp] = {}

    def build(self) -> None:
        calls = self.capture.graph.nodes
        backward = reachable(self.capture.tangents, lambda node: node.users)
        with ir.InsertionPoint(self.block):
            self._guard()
            self._bind_arguments()
            self._import(node for node in calls if node not in backward)
            self._writes()
            results = self._results()
            self._set_facts()
            self._bind_tangents()
            self.nodes.is_backward = True
            self._import(node for node in calls if node in backward)
            self._gradients()
            func.ReturnOp(results)
        inputs = [argument.type for argument in self.arguments]
        signature = ir.FunctionType.get(inputs, [value.type for value in results])
        self.func.attributes["function_type"] = ir.TypeAttr.get(signature)
        set_convention(self.func, self.capture.convention)
        state_devices(self.module, self.nodes.placed)

    def _guard(self) -> None:
        """What was traced holds for arguments that share memory as these do; a later call may differ."""
        tensors = [each for each in zip(self.capture.inputs, self.arguments, strict=True) if each[0].number is None]
        mutated = [each for each in tensors if each[0].mutation is not None]
        checked = mutated + [each for each in tensors if each[0].mutation is None]
        is_tracked = any(each.mutation and each.mutation.mode == "tracked" for each, _ in mutated)
        if not (self.capture.fixes_offsets or is_tracked) and (not mutated or len(checked) < 2):
            return
        refs = [ref for _, ref in checked]
        with ir.InsertionPoint(self.func):
            guard = func.FuncOp("guard", ir.FunctionType.get([ref.type for ref in refs], []), visibility="private")
        set_role(guard, Role.GUARD)
        guard.attributes[MUTATED] = i64(len(mutated))
        attributes = [guarded(argument, self.capture) for argument, _ in checked]
        guard.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        func.CallOp([], "guard", refs)

    def _argument_type(self, argument: Input) -> ir.Type:
        if argument.number is None:
            return self._ref_type(argument.node)
        return self.types.value_info_to_type(argument.number)

    def _ref_type(self, node: torch.fx.Node) -> RefType:
        value = node.meta["val"]
        type_ = self.types.create_vtensor_type(value.dtype, value.size())
        return RefType.of(type_, tuple(value.stride()), named(value.device, self.home))

    def _import(self, nodes: Iterable[torch.fx.Node]) -> None:
        self.nodes.import_nodes(nodes, skip_placeholders_outputs=True)

    def _bind_arguments(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.number is None:
                self.nodes.bind_node_value(argument.node, read(ref).value)

    def _own(self, owned: Owned, place: int) -> ir.Value:
        return self._own_value(place, owned.node, owned.layout, owned.tangent, owned.requires_grad)

    def _own_value(
        self, place: int, node: torch.fx.Node, layout: Layout, tangent_node: torch.fx.Node | None, requires_grad: bool
    ) -> ir.Value:
        if requires_grad and not any(each.gradient is not None for each in self.capture.inputs):
            raise UnsupportedError(f"{source_line(node)}: a result requires grad, but no argument gets a gradient")
        with self.types.get_node_location(node) or ir.Location.unknown():
            value = self.nodes.resolve_node_value(node)
            device = named(node.meta["val"].device, self.home)
            self.owns[place] = own(value, RefType.of(value.type, layout.stride, device), requires_grad)
            ref = self.owns[place].ref
        if tangent_node is not None:
            self.tangents.append((tangent_node, ref))
        return ref

    def _writes(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.mutation is not None and argument.mutated_value is not None:
                self._write(argument, argument.mutation, argument.mutated_value, ref)
            if argument.touches:
                touch(ref, argument.touches)
            if argument.layout is not None:
                layout = argument.layout
                set_metadata(ref, layout.size, layout.stride, layout.offset, layout.versions)

    def _write(self, argument: Input, mutation: Mutation, node: torch.fx.Node, ref: ir.Value) -> None:
        value = self.nodes.resolve_node_value(node)
        if argument.tangent is not None and argument.place is not None:
            value = self._own_value(
                argument.place, node, argument.layout or _layout_of(argument.node), argument.tangent, True
            )
        with self.types.get_node_location(node) or ir.Location.unknown():
            if argument.layout is not None:
                ref = self._view(ref, _as_strided(argument.layout, argument.node.meta["val"].dtype))
            write(value, ref, mutation.mode, mutation.versions)

    def _results(self) -> list[ir.Value]:
        owned = [self._own(each, place) for place, each in enumerate(self.capture.owned)]
        results: dict[int, ir.Value] = {}
        # First what others are views of, last what is the same object as others.
        numbered = sorted(
            enumerate(self.capture.results), key=lambda each: (each[1].same_as is not None, each[1].of is not None)
        )
        for index, result in numbered:
            results[index] = self._result(result, index, owned, results)
        if self.capture.grad_mode is not None:
            set_grad_mode(self.capture.grad_mode)
        return [results[index] for index in range(len(results))]

    def _set_facts(self) -> None:
        """States what is known of each argument, and what eager's backward from each owned result would do."""
        numbers = {place: number for number, place in enumerate(self.owns)}
        if self.capture.layouts is not None:
            layouts_function(self.nodes, self.capture.layouts, numbers)
        delivered = [ref for _, ref in self.tangents]
        differentiated = [place for place, each in self.owns.items() if each.ref in delivered]
        facts = [
            stated(argument) | watched(argument, numbers) | reached(argument, differentiated, numbers)
            for argument in self.capture.inputs
        ]
        self.func.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in facts])
        for place in differentiated:
            if self.capture.frees[place] != (0,):
                self.owns[place].attributes[FREES] = ir.DenseI64ArrayAttr.get(self.capture.frees[place])
        for place, owned in enumerate(self.capture.owned):
            for name, attribute in watched(owned, numbers).items():
                self.owns[place].attributes[name] = attribute
            if owned.base is not None:
                self.owns[place].attributes[BASE] = ir.DenseI64ArrayAttr.get(owned.base)

    def _result(self, result: Result, index: int, owned: list[ir.Value], results: dict[int, ir.Value]) -> ir.Value:
        if result.same_as is not None:
            return results[result.same_as]
        if result.of is not None:
            return self._replay(results[result.of], result)
        if result.argument is not None:
            return self._replay(self.arguments[result.argument], result)
        if result.owned is not None:
            return self._replay(owned[result.owned], result)
        if not isinstance(result.value, bool | int | float | str | None):
            raise UnsupportedError(f"result {index}: a {type(result.value).__name__} is not supported, return a tensor")
        return self.nodes._import_argument(ir.Location.unknown(), result.value)

    def _replay(self, ref: ir.Value, result: Result) -> ir.Value:
        for step in result.chain:
            ref = self._view(ref, step)
        return ref

    def _view(self, ref: ir.Value, step: ViewStep) -> ir.Value:
        tensor = self.types.create_vtensor_type(step.dtype, torch.Size(step.size))
        args = [_attribute(arg) for arg in step.args]
        view_type = RefType.of(tensor, step.stride, RefType(ref.type).device)
        return view(ref, step.callee, args, view_type, step.output_index, step.grad_mode).view

    def _bind_tangents(self) -> None:
        for node, ref in self.tangents:
            delivered = tangent(ref, self._ref_type(node)).ref
            self.nodes.bind_node_value(node, read(delivered).value)

    def _gradients(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.gradient is not None:
                gradient(self.nodes.resolve_node_value(argument.gradient), ref)


def _layout_of(node: torch.fx.Node) -> Layout:
    return Layout(tuple(node.meta["val"].size()), tuple(node.meta["val"].stride()))


def _as_strided(layout: Layout, dtype: torch.dtype) -> ViewStep:
    place = ([*layout.size], [*layout.stride], layout.offset)
    return ViewStep("aten.as_strided.default", place, layout.size, layout.stride, dtype)


def _attribute(value) -> ir.Attribute:
    """A view function's argument as an attribute: integers, booleans, floats, dtypes (by name) and lists of them."""
    match value:
        case bool():
            return ir.BoolAttr.get(value)
        case int():
            return i64(value)
        case float():
            return ir.FloatAttr.get_f64(value)
        case torch.dtype():
            return ir.StringAttr.get(str(value).removeprefix("torch."))
        case list() | tuple():
            return ir.ArrayAttr.get([_attribute(item) for item in value])
        case None:
            return ir.UnitAttr.get()
    raise UnsupportedError(f"view argument {value!r} of type {type(value).__name__} is not supported yet")

"""A captured joint graph to the `joint` level of the IR.

Only dataflow says what the user observes: a result is returned as the ref that it is, a mutation is a write to the
argument's ref, a gradient is tied to its input. See docs/ir-levels.md.
"""

from collections.abc import Iterable, Sequence
from itertools import filterfalse
from math import prod

import torch
from torch.utils._pytree import tree_leaves
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras.fx_importer import FxImporter

from dovetail.dialects.attributes import (
    BASE,
    CURRENT_DEVICE,
    DEVICE,
    FREES,
    LEVEL,
    MUTATED,
    ONCE,
    SIZES,
    TARGET,
    WRITTEN_LAST,
)
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
from dovetail.dialects.dovetail.types import OPEN
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Role, set_role
from dovetail.dialects.subclasses import set_convention
from dovetail.dialects.torch_facts.types import torch_type
from dovetail.errors import UnsupportedError
from dovetail.frontend.devices import CPU_DEVICE, named, takes_current
from dovetail.frontend.dynamo.open_sizes import identity, is_open, known
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.records import Capture, Input, Layout, Mutation, Owned, Result, ViewStep
from dovetail.frontend.to_ir.argument_facts import guarded, reached, stated, watched
from dovetail.frontend.to_ir.device_facts import state_devices
from dovetail.frontend.to_ir.layouts_function import layouts_function
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.frontend.to_ir.open_numbers import OpenNumbers, OpenTypes


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
        if takes_current(capture.graph):
            module.operation.attributes[CURRENT_DEVICE] = i64(torch.cuda.current_device())
        _Joint(capture, module, home).build()
        module.operation.verify()
    return module


class _Joint:
    """Builds `@joint`, front to back."""

    def __init__(self, capture: Capture, module: ir.Module, home: torch.device):
        self.capture, self.module, self.home = capture, module, home
        importer = FxImporter(module=module, config_check=False, graph_node_importer_cls=NodeImporter)
        self.types = importer._cc = OpenTypes(module.context)
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
        self.open = self.nodes.open = OpenNumbers(capture.inputs, list(block.arguments))
        self.open.hint(module)
        self.block = block
        self.arguments = list(block.arguments)
        self.tangents: list[tuple[torch.fx.Node, ir.Value]] = []
        # By the number of what they hand out among the tensors that leave the call.
        self.owns: dict[int, OwnOp] = {}
        self.laid_out: dict[ir.Value, Sequence] = {}

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
        tensors = [each for each in zip(self.capture.inputs, self.arguments, strict=True) if each[0].is_tensor]
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
        if argument.is_tensor:
            return self._ref_type(argument.node)
        return torch_type("int") if argument.symbol is not None else self.types.value_info_to_type(argument.number)

    def _ref_type(self, node: torch.fx.Node) -> RefType:
        value = node.meta["val"]
        type_ = self.types.get_vtensor_type(value.size(), value.dtype)
        return RefType.of(type_, _strides(value.stride()), named(value.device, self.home))

    def _import(self, nodes: Iterable[torch.fx.Node]) -> None:
        self.nodes.import_nodes(filterfalse(self.nodes.bind_number, nodes), skip_placeholders_outputs=True)

    def _bind_arguments(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.is_tensor:
                value = read(ref).value
                self.open.state(value.owner, argument.node.meta["val"])
                self.nodes.bind_node_value(argument.node, value)
            elif argument.symbol is not None:
                self.nodes.bind_node_value(argument.node, ref)
            elif argument.node.users:
                # It became known while the graph was traced.
                value = self.nodes._import_argument(ir.Location.unknown(), argument.number)
                self.nodes.bind_node_value(argument.node, value)

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
            type_ = RefType.of(value.type, _strides(layout.stride), device)
            numbers = self.open.values(each for each in layout.stride if is_open(each))
            self.owns[place] = own(value, type_, requires_grad, numbers)
            ref = self.owns[place].ref
            self.laid_out[ref] = layout.stride
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
                size, stride = self.open.values(layout.size), self.open.values(layout.stride)
                set_metadata(ref, size, stride, self.open.value(layout.offset), layout.versions)

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
        for index, argument in enumerate(self.capture.inputs):
            facts[index] |= self.open.facts(index, argument)
            sizes = self.open.sizes(argument.node.meta.get("val"))
            facts[index] |= {} if sizes is None else {SIZES: sizes}
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
        if is_open(result.value):
            return self.open.value(result.value)
        if not isinstance(known(result.value), bool | int | float | str | None):
            raise UnsupportedError(f"result {index}: a {type(result.value).__name__} is not supported, return a tensor")
        return self.nodes._import_argument(ir.Location.unknown(), known(result.value))

    def _replay(self, ref: ir.Value, result: Result) -> ir.Value:
        for step in result.chain:
            ref = self._view(ref, step)
        return ref

    def _view(self, ref: ir.Value, step: ViewStep) -> ir.Value:
        tensor = self.types.get_vtensor_type(step.size, step.dtype)
        args = [_attribute(arg) for arg in step.args]
        numbers = self.open.values(each for each in tree_leaves(step.args) if is_open(each))
        view_type = RefType.of(tensor, _strides(step.stride), RefType(ref.type).device)
        return view(ref, step.callee, args, view_type, step.output_index, step.grad_mode, numbers).view

    def _bind_tangents(self) -> None:
        for node, ref in self.tangents:
            type_ = self._ref_type(node)
            _check_tangent(node, self.laid_out[ref], type_ == ref.type)
            delivered = tangent(ref, type_).ref
            value = read(delivered).value
            for made in (delivered, value):
                self.open.state(made.owner, node.meta["val"])
            self.nodes.bind_node_value(node, value)

    def _gradients(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.gradient is not None:
                gradient(self.nodes.resolve_node_value(argument.gradient), ref)


def _layout_of(node: torch.fx.Node) -> Layout:
    return Layout(tuple(node.meta["val"].size()), tuple(node.meta["val"].stride()))


def _as_strided(layout: Layout, dtype: torch.dtype) -> ViewStep:
    place = ([*layout.size], [*layout.stride], layout.offset)
    return ViewStep("aten.as_strided.default", place, layout.size, layout.stride, dtype)


def _check_tangent(node: torch.fx.Node, strides: Sequence, is_same: bool) -> None:
    """Raises UnsupportedError for open strides that are neither those of the result nor row by row, as types say it."""
    traced, wanted = node.meta["val"].stride(), strides
    if not any(map(is_open, traced)):
        return
    if not is_same:
        sizes = node.meta["val"].size()
        wanted = [prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
    if list(map(identity, traced)) != list(map(identity, wanted)):
        raise UnsupportedError(f"{source_line(node)}: a gradient of open sizes is laid out in a way of its own")


def _strides(strides: Iterable) -> list[int | None]:
    """Strides as a type says them."""
    return [None if is_open(each) else known(each) for each in strides]


def _attribute(value) -> ir.Attribute:
    """A view function's argument as an attribute: integers, booleans, floats, dtypes (by name) and lists of them."""
    match known(value):
        case torch.SymInt():
            return i64(OPEN)
        case bool():
            return ir.BoolAttr.get(value)
        case int():
            return i64(known(value))
        case float():
            return ir.FloatAttr.get_f64(value)
        case torch.dtype():
            return ir.StringAttr.get(str(value).removeprefix("torch."))
        case list() | tuple():
            return ir.ArrayAttr.get([_attribute(item) for item in value])
        case None:
            return ir.UnitAttr.get()
    raise UnsupportedError(f"view argument {value!r} of type {type(value).__name__} is not supported yet")

"""A captured joint graph to the `joint` level of the IR.

Only dataflow says what the user observes: a result is returned as the ref that it is, a mutation is a write to the
argument's ref, a gradient is tied to its input. See docs/ir-levels.md.
"""

from collections.abc import Iterable

import torch
from torch_mlir import ir
from torch_mlir.extras.fx_importer import FxImporter

from dovetail.dialects.attributes import (
    CURRENT_DEVICE,
    DEVICE,
    GRADIENT_STRIDES,
    LEVEL,
    ONCE,
    TARGET,
    TF32,
    WRITTEN_LAST,
)
from dovetail.dialects.dovetail import GradientOp
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Role
from dovetail.dialects.statements.subclasses import set_convention
from dovetail.dialects.torch_facts.types import torch_type
from dovetail.frontend.devices import CPU_DEVICE, rounds_convolutions, takes_current
from dovetail.frontend.records import Capture, CapturedArgument
from dovetail.frontend.to_ir.affine import settle
from dovetail.frontend.to_ir.argument_facts import needed_facts, reached, state_devices, stated
from dovetail.frontend.to_ir.building import finish, new_function, state_arguments
from dovetail.frontend.to_ir.gradient_strides import gradient_strides
from dovetail.frontend.to_ir.guard_function import call_guard, fix_offsets
from dovetail.frontend.to_ir.layouts_function import layouts_function
from dovetail.frontend.to_ir.leaving import Leaving
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.frontend.to_ir.open_numbers import OpenNumbers, OpenTypes
from dovetail.frontend.to_ir.refs import of_size, ref_type


def import_capture(
    capture: Capture, context: ir.Context, target: str = "cpu", home: torch.device = CPU_DEVICE
) -> ir.Module:
    """Returns a module at level `joint` with the one function `@joint`, for `target`; it names all devices but `home`.

    Raises:
        UnsupportedError: for a node, argument or result that the IR can't hold yet, naming it.
    """
    settle(capture)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        module.operation.attributes[LEVEL] = ir.StringAttr.get("joint")
        module.operation.attributes[TARGET] = ir.StringAttr.get(target)
        if home.index:
            module.operation.attributes[DEVICE] = ir.StringAttr.get(str(home))
        if takes_current(capture.graph):
            module.operation.attributes[CURRENT_DEVICE] = i64(torch.cuda.current_device())
        if home.type == "cuda" and rounds_convolutions():
            module.operation.attributes[TF32] = ir.UnitAttr.get()
        _Joint(capture, module, home).build()
        module.operation.verify()
    return module


class _Joint:
    """Builds `@joint`, front to back."""

    def __init__(self, capture: Capture, module: ir.Module, home: torch.device):
        self.capture, self.module, self.home = capture, module, home
        importer = FxImporter(module=module, config_check=False, graph_node_importer_cls=NodeImporter)
        self.types = importer._cc = OpenTypes(module.context)
        fix_offsets(capture)
        arguments = [self._argument_type(argument) for argument in capture.inputs]
        with ir.InsertionPoint(module.body):
            self.func = new_function("joint", Role.JOINT, arguments, private=False)
        if capture.once is not None:
            self.func.attributes[ONCE] = ir.StringAttr.get(capture.once)
        if capture.written_last is not None:
            self.func.attributes[WRITTEN_LAST] = ir.StringAttr.get(capture.written_last)
        self.nodes = NodeImporter(importer, module.context, self.types, self.func.add_entry_block())
        self.arguments = list(self.func.arguments)
        self.nodes.operand_strides, self.nodes.home = capture.operand_strides, home
        self.open = self.nodes.open = OpenNumbers(capture.inputs, self.arguments)
        self.leaving = Leaving(capture, self.nodes, self.arguments)

    def build(self) -> None:
        calls = self.capture.graph.nodes
        backward = reachable(self.capture.tangents, lambda node: node.users)
        with ir.InsertionPoint(self.func.entry_block):
            call_guard(self.func, self.capture, self.arguments)
            self._bind_arguments()
            self._import(node for node in calls if node not in backward)
            self.leaving.write_arguments()
            results = self.leaving.results()
            self._set_facts()
            self.leaving.bind_tangents()
            self.nodes.is_backward = True
            self._import(node for node in calls if node in backward)
            self._gradients()
            finish(self.func, results)
        self.open.hint(self.module)
        set_convention(self.func, self.capture.convention.with_numbers(self.open.said))
        state_devices(self.module, self.nodes.placed)

    def _argument_type(self, argument: CapturedArgument) -> ir.Type:
        if argument.is_tensor:
            return ref_type(self.types, argument.node.meta["val"], self.home)
        return torch_type("int") if argument.symbol is not None else self.types.value_info_to_type(argument.number)

    def _import(self, nodes: Iterable[torch.fx.Node]) -> None:
        self.nodes.import_nodes(nodes, skip_placeholders_outputs=True)

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
                self.nodes.bind_node_value(argument.node, self.nodes.argument(argument.number))

    def _set_facts(self) -> None:
        """States what is known of each argument, and what eager's backward from each owned result would do."""
        numbers = {position: number for number, position in enumerate(self.leaving.owns)}
        tangents = self.leaving.tangents()
        if self.capture.layouts is not None:
            layouts_function(self.nodes, self.capture.layouts, numbers, tangents)
        facts = []
        for index, argument in enumerate(self.capture.inputs):
            known = stated(argument) | needed_facts(argument.needed, numbers) | reached(argument, [*tangents], numbers)
            known |= self.open.facts(index, argument) | self.open.lying(argument.node.meta.get("val"))
            facts.append(known)
        state_arguments(self.func, facts)
        self.leaving.state(numbers)

    def _gradients(self) -> None:
        for argument, ref in zip(self.capture.inputs, self.arguments, strict=True):
            if argument.gradient is None:
                continue
            made = GradientOp(of_size(self.nodes, argument.gradient, argument.node.meta["val"]), ref)
            strides = gradient_strides(argument.gradient)
            if strides is not None:
                made.attributes[GRADIENT_STRIDES] = ir.DenseI64ArrayAttr.get(strides)

"""A function of the IR as Python source that calls ATen, op by op.

The reference executor runs what it emits at every level; the runtime runs what it emits for the host schedule, with
compiled regions in place of `launch`ed functions. One emitter, so the two can't disagree.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends import aten
from dovetail.backends.control_flow import run_cond, run_while_loop
from dovetail.dialects.aliases import with_aliases
from dovetail.dialects.calls import referred
from dovetail.dialects.control_flow import COND, called_subgraphs, control_flow_name
from dovetail.dialects.dovetail import (
    AllocOp,
    DestinationOp,
    DetachOp,
    GradientOp,
    OwnOp,
    ReadOp,
    SetGradModeOp,
    SetMetadataOp,
    TangentOp,
    TouchOp,
    ViewOp,
    WriteOp,
)
from dovetail.dialects.dovetail.ops.destination import IN_PLACE
from dovetail.dialects.torch_ops import aten_name
from dovetail.dialects.torch_types import require_tensor_info


@dataclass
class Source:
    """Python source of one function, and the objects that it names."""

    name: str
    text: str
    namespace: dict[str, Any]

    def load(self) -> Callable:
        """Compiles the source and returns the function."""
        exec(compile(self.text, f"<dovetail {self.name}>", "exec"), self.namespace)
        return self.namespace[self.name]


@dataclass
class Emitter:
    """Emits one `func.func`. It takes its arguments in a list, which it empties, so that they can die early.

    `bindings` gives the callables for called functions, by symbol; "with_strides" and "write_..." stand in for those of
    `backends.aten`, and "ready" is what a region's inputs go through unless known to be contiguous and aligned.
    `BOXED` symbols take one list, the others their arguments.
    """

    function: func.FuncOp
    bindings: dict[str, Callable]
    ready: bool = False
    lines: list[str] = field(default_factory=list)
    names: dict[ir.Value, str] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    aliases: dict[ir.Value, ir.Value] = field(default_factory=dict)
    prepared: dict[ir.Value, str] | None = None

    def emit(self) -> Source:
        """Returns the function's source.

        Raises:
            NotImplementedError: for an op that can't be called from Python, with its location.
        """
        name = ir.StringAttr(self.function.attributes["sym_name"]).value
        block = self.function.body.blocks[0]
        written = {_memory(op.opview.ref) for op in self._operations() if isinstance(op.opview, WriteOp)}
        self.written = with_aliases(self.function, written)
        self.arguments = list(block.arguments)
        self.aliases = self._aliases(block)
        deaths = self._last_uses(block)
        parameters = [self._name(argument) for argument in block.arguments]
        has_tangents = any(isinstance(op.opview, TangentOp) for op in self._operations())
        self.lines.append(f"def {name}(arguments{', tangents' if has_tangents else ''}):")
        if parameters:
            self._line(f"{_tuple(parameters)} = arguments")
        self._line("arguments.clear()")
        if has_tangents:
            self._line(f"gradients = [None] * {len(parameters)}")
        for index, op in enumerate(block.operations):
            self._statement(op, has_tangents)
            dead = [self.names[value] for value in deaths.get(index, ()) if _is_variable(self.names.get(value, ""))]
            if dead and not isinstance(op.opview, func.ReturnOp):
                self._line(f"del {', '.join(dead)}")
        return Source(name, "\n".join(self.lines) + "\n", self.namespace)

    def _operations(self) -> Iterable[ir.Operation]:
        return (op.operation for op in self.function.body.blocks[0].operations)

    def _line(self, text: str) -> None:
        self.lines.append(f"    {text}")

    def _name(self, value: ir.Value) -> str:
        value = self.aliases.get(value, value)
        if value not in self.names:
            self.names[value] = f"v{len(self.names)}"
        return self.names[value]

    def _bind(self, prefix: str, thing: object) -> str:
        """Puts `thing` into the function's namespace, once, under a readable name."""
        name, count = prefix, 0
        while self.namespace.setdefault(name, thing) is not thing:
            count += 1
            name = f"{prefix}_{count}"
        return name

    def _aliases(self, block: ir.Block) -> dict[ir.Value, ir.Value]:
        """Values that are their memory: reads of what this function does not write, and destinations read back."""
        found: dict[ir.Value, ir.Value] = {}
        for op in (each.operation for each in block.operations):
            is_read = isinstance(op.opview, ReadOp) and _memory(op.opview.ref) not in self.written
            if is_read or op.name == "torch.copy.to_vtensor":
                found[op.results[0]] = found.get(op.operands[0], op.operands[0])
        return found

    def _last_uses(self, block: ir.Block) -> dict[int, list[ir.Value]]:
        """By position of an operation: the values that nobody needs after it."""
        last: dict[ir.Value, int] = dict.fromkeys(block.arguments, 0)
        for index, op in enumerate(block.operations):
            for value in [*op.operation.operands, *op.operation.results]:
                last[self.aliases.get(value, value)] = index
        deaths: dict[int, list[ir.Value]] = {}
        for value, index in last.items():
            deaths.setdefault(index, []).append(value)
        return deaths

    def _assign(self, results, expression: str) -> None:
        names = [self._name(result) for result in results]
        if not names:
            self._line(expression)
        else:
            self._line(f"{', '.join(names)} = {expression}")

    def _assign_tuple(self, results, expression: str) -> None:
        """Like `_assign`, for a callee that returns a tuple even of one."""
        self._line(f"{_tuple([self._name(result) for result in results])} = {expression}" if results else expression)

    def _statement(self, op, has_tangents: bool) -> None:
        view, operation = op.operation.opview, op.operation
        constant = aten.constant(operation, self.names)
        if constant is not None:
            self.names[operation.results[0]] = constant
            return
        match view:
            case ReadOp():
                if view.value not in self.aliases:
                    self._line(f"{self._name(view.value)} = {self._name(view.ref)}.clone()")
            case WriteOp():
                self._write(view)
            case OwnOp():
                self._own(view)
            case ViewOp():
                self._view(view)
            case DetachOp():
                self._line(f"{self._name(view.detached)} = {self._name(view.ref)}.detach()")
            case SetMetadataOp():
                self._set_metadata(view)
            case TouchOp():
                move = self._bind("increment_version", aten.increment_version)
                self._line(f"{move}({self._name(view.ref)}, {view.version_count})")
            case SetGradModeOp():
                self._line(f"{self._bind('set_grad_mode', torch._C._set_grad_enabled)}({view.is_enabled})")
            case AllocOp():
                self._alloc(view)
            case DestinationOp():
                self._destination(view)
            case TangentOp():
                self._line(f"{self._name(view.results[0])} = tangents.pop(0)")
            case GradientOp():
                self._line(f"gradients[{self.arguments.index(view.of)}] = {self._name(view.value)}")
            case func.CallOp():
                self._call(operation)
            case func.ReturnOp():
                results = f"({_tuple([self._name(value) for value in operation.operands])})"
                self._line(f"return {results}, gradients" if has_tangents else f"return {results}")
            case _:
                self._torch(operation)

    def _write(self, view: WriteOp) -> None:
        """A value in place already is written only where its region could not take the memory itself."""
        name = f"write_{view.mode_name}"
        write = self._bind(name, self.bindings.get(name, aten.WRITES[view.mode_name]))
        move = self._bind("increment_version", aten.increment_version)
        ref, value, count = self._name(view.ref), self._name(view.value), view.version_count
        is_in_place = IN_PLACE in view.attributes
        if is_in_place:
            self._line(f"if {ref}.data_ptr() == {value}.data_ptr():")
            self._line(f"    {move}({ref}, {count})")
            self._line("else:")
        indent = "    " if is_in_place else ""
        self._line(f"{indent}{write}({ref}, {value})")
        if count > 1:
            self._line(f"{indent}{move}({ref}, {count - 1})")

    def _own(self, view: OwnOp) -> None:
        """Eager's strides are part of the promise; a copy happens only where a kernel left others."""
        value, type_ = self._name(view.value), view.ref.type
        owned = self._bind("with_strides", self.bindings.get("with_strides", aten.with_strides))
        self._line(f"{self._name(view.ref)} = {owned}({value}, {type_.strides})")

    def _view(self, view: ViewOp) -> None:
        name, mode = view.callee_name.removesuffix(".default").replace(".", "_"), view.sets_grad_mode
        function = self._bind(
            name if mode is None else f"{name}_grad_{mode}", aten.view_function(view.callee_name, mode)
        )
        arguments = [self._name(view.ref), *(repr(aten.python_value(each)) for each in ir.ArrayAttr(view.args))]
        if view.callee_name == "aten.as_strided.default":
            arguments[-1] = f"{self._name(view.ref)}.storage_offset() + {arguments[-1]}"
        self.namespace.setdefault("torch", torch)
        index = f"[{view.output_index}]" if view.output_index >= 0 else ""
        self._line(f"{self._name(view.results[0])} = {function}({', '.join(arguments)}){index}")

    def _set_metadata(self, view: SetMetadataOp) -> None:
        ref = self._name(view.ref)
        size, stride = aten.python_value(view.size), aten.python_value(view.stride)
        offset = f"{ref}.storage_offset() + {ir.IntegerAttr(view.attributes['offset']).value}"
        self._line(f"{ref}.as_strided_({size}, {stride}, {offset})")
        if view.version_count > 1:
            move = self._bind("increment_version", aten.increment_version)
            self._line(f"{move}({ref}, {view.version_count - 1})")

    def _alloc(self, view: AllocOp) -> None:
        info = require_tensor_info(view.memory.type)
        empty, dtype = self._bind("empty", torch.empty), self._bind(info.dtype, getattr(torch, info.dtype))
        self._line(f"{self._name(view.memory)} = {empty}({info.shape}, dtype={dtype})")

    def _destination(self, view: DestinationOp) -> None:
        is_proved = view.proof_name != "none"
        if is_proved and self.ready and self.prepared is None:
            self._prepare_updates(view.operation.block)
        name, default = ("destination", torch.detach) if is_proved else ("copied", torch.Tensor.clone)
        make = self._bind(name, self.bindings.get(name, default))
        self._line(f"{self._name(view.memory)} = {make}({self._name(view.ref)})")

    def _prepare_updates(self, block: ir.Block) -> None:
        """Copies that updates in place need are made before the first of them runs: nothing may fail after it."""
        prepared: dict[ir.Value, str] = {}
        for op in block.operations:
            updates = isinstance(op, func.CallOp) and any(map(_is_destination, op.operands))
            for value in op.operands if updates else ():
                if value not in prepared and not _is_allocated(value):
                    prepared[value] = f"ready_{len(prepared)}"
                    self._line(f"{prepared[value]} = {self._argument(value)}")
        self.prepared = prepared

    def _call(self, operation: ir.Operation) -> None:
        callee = referred(operation.opview, "callee")
        called = self._bind(callee, self.bindings[callee])
        if callee in BOXED:
            call = f"{called}([{', '.join(map(self._name, operation.operands))}])"
            self._assign_tuple(operation.results, call)
        elif callee.startswith("apply"):
            self._assign_tuple(operation.results, f"{called}({', '.join(map(self._name, operation.operands))})")
        else:
            arguments = ", ".join(self._argument(value) for value in operation.operands)
            self._assign(operation.results, f"{called}({arguments})")

    def _argument(self, value: ir.Value) -> str:
        if self.prepared and value in self.prepared:
            return self.prepared[value]
        if not self.ready or _is_allocated(value):
            return self._name(value)
        return f"{self._bind('ready', self.bindings['ready'])}({self._name(value)})"

    def _torch(self, operation: ir.Operation) -> None:
        special = aten.SPECIAL.get(operation.name)
        if special is not None:
            results, expression = special(self, operation)
            self._assign(results, expression) if expression else None
            return
        if control_flow_name(operation):
            self._control_flow(operation)
            return
        name = aten_name(operation)
        if name is None:
            raise NotImplementedError(f"{operation.location}: '{operation.name}' op can't be called from Python")
        self._aten(name, operation)

    def _aten(self, name: str, operation: ir.Operation) -> None:
        overload = aten.overload(name)
        is_memory = any(str(value.type).startswith("!torch.tensor<") for value in operation.operands)
        called = overload if is_memory else aten.callable_for(overload)
        function = self._bind(name.removesuffix(".default").replace(".", "_"), called)
        arguments = aten.arguments(overload, [self._name(value) for value in operation.operands])
        if "torch." in arguments:
            self.namespace.setdefault("torch", torch)
        self._assign(operation.results, f"{function}({arguments})")

    def _control_flow(self, operation: ir.Operation) -> None:
        names = called_subgraphs(operation)
        functions = ", ".join(self._bind(name, self.bindings[name]) for name in names)
        operands = [self._name(value) for value in operation.operands]
        if control_flow_name(operation) == COND:
            run, arguments = self._bind("run_cond", run_cond), f"{operands[0]}, [{', '.join(operands[1:])}]"
        else:
            carried = len(operation.results)
            run = self._bind("run_while_loop", run_while_loop)
            arguments = f"[{', '.join(operands[:carried])}], [{', '.join(operands[carried:])}]"
        self._assign_tuple(operation.results, f"{run}({functions}, {arguments})")


# The functions of a program that take one list and empty it.
BOXED = ("forward", "backward")


def _memory(ref: ir.Value) -> ir.Value:
    """The ref that `ref` is a view of, through any number of views."""
    while isinstance(ref.owner, ir.OpView | ir.Operation) and isinstance(ref.owner.operation.opview, ViewOp | DetachOp):
        ref = ref.owner.operation.opview.ref
    return ref


def _is_allocated(value: ir.Value) -> bool:
    """Whether `value` is memory that the program made for a region, or what lies there."""
    is_loaded = not isinstance(value.owner, ir.Block) and value.owner.operation.name == "torch.copy.to_vtensor"
    return is_loaded or str(value.type).startswith("!torch.tensor<")


def _is_destination(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and isinstance(value.owner.operation.opview, DestinationOp)


def _tuple(names: list[str]) -> str:
    """Names as a tuple without its brackets, which for one name is a comma."""
    return f"{', '.join(names)}{',' if len(names) == 1 else ''}"


def _is_variable(name: str) -> bool:
    return name.startswith("v") and name[1:].isdigit()

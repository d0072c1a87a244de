"""A function of the IR as Python source that calls ATen, op by op.

The reference executor runs what it emits at every level; the runtime runs what it emits for the host schedule, with
compiled regions in place of `launch`ed functions. One emitter, so the two can't disagree. A name lives until the IR
frees its memory, else until the function returns.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python import aten
from dovetail.backends.python.memory import emit_alloc, emit_destination, emit_reuse, forget, spoil_results
from dovetail.backends.python.names import made_name
from dovetail.backends.python.operator_calls import as_tuple, emit_call, emit_return, emit_torch
from dovetail.backends.python.parts import emit_part
from dovetail.backends.python.refs import REFS
from dovetail.dialects.attributes import IN_PLACE
from dovetail.dialects.dovetail import AllocOp, DestinationOp, FreeOp, PartOp, ReadOp, ReuseOp, TangentOp, WriteOp
from dovetail.dialects.memory.aliases import with_aliases
from dovetail.dialects.memory.buffers import Buffers, host_buffers
from dovetail.dialects.memory.copied_writes import are_independent, is_copied
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, arguments, body, module_of, role, symbol, terminator
from dovetail.dialects.sizes.symbols import all_symbols
from dovetail.dialects.statements.devices import CPU, home
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.errors import ModuleError

# What reading an op raises that is valid MLIR, and not what our passes write.
_NONSENSE = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

Emit = Callable[["Emitter", Any], None]
_OURS: dict[type[ir.OpView], Emit] = {
    **REFS,
    AllocOp: emit_alloc,
    PartOp: emit_part,
    ReuseOp: emit_reuse,
    FreeOp: lambda emitter, op: forget(emitter, op.memory),
    DestinationOp: emit_destination,
    func.CallOp: emit_call,
    func.ReturnOp: emit_return,
}


def quotient(dividend: float, divisor: float) -> float:
    """Of Python's numbers, by IEEE 754's rules, section 7.3: by a zero it is infinite, and NaN of a zero or a NaN."""
    return dividend / divisor if divisor else dividend * math.copysign(math.inf, divisor)


@dataclass
class Source:
    """Python source of one function, and the objects that it names."""

    name: str
    text: str
    namespace: dict[str, Any]

    def load(self) -> Callable:
        """Compiles the source and returns the function.

        Nothing of the module's text is in it but what resolves to an operator or is printed by `repr`: see
        docs/decisions/0028-what-a-modules-text-may-become.md.
        """
        exec(compile(self.text, f"<dovetail {self.name}>", "exec"), self.namespace)
        return self.namespace[self.name]


@dataclass
class Emitter:
    """Emits one `func.func`. It takes its arguments in a list, which it empties, so that they can die early.

    `bindings` gives the callables for called functions, by symbol. Of `helpers`, "with_strides" and "write_..." stand
    in for those of `backends.python.aten`, and "ready", where it is there, is what the operands of updates in place go
    through, so that no copy of them can fail later. "reused" is there where all regions are compiled, which may read
    what they overwrite; one that runs op by op spoils that first, and gets memory of its own.
    With `has_layouts` it also takes the strides of what `@layouts` returns, which operands in the backward lie as.
    `starts` counts the lines before each op's. `run` are the op that is emitted and those beside it which Python asks
    one question for, or makes one call of. `allocators` names what allocates on a GPU.
    """

    function: func.FuncOp
    bindings: Mapping[str, Callable]
    helpers: Mapping[str, Callable] = field(default_factory=dict)
    has_layouts: bool = False
    lines: list[str] = field(default_factory=list)
    names: dict[ir.Value, str] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=lambda: {"math": math, "quotient": quotient})
    prepared: dict[ir.Value, str] | None = None
    starts: list[int] = field(default_factory=list)
    run: list[ir.Operation] = field(default_factory=list)
    allocators: set[str] = field(default_factory=set)

    def emit(self) -> Source:
        """Returns the function's source.

        Raises:
            NotImplementedError: for an op that can't be called from Python, with its location.
            ModuleError: for one that says nothing sensible, with its location.
        """
        check_body(self.function)
        name = made_name(symbol(self.function))
        written = {memory_root(op.opview.ref) for op in self._ops if isinstance(op.opview, WriteOp)}
        self.written = with_aliases(self.function, written)
        self.arguments = arguments(self.function)
        parameters = [self.name(argument) for argument in self.arguments]
        self.has_tangents = any(isinstance(op.opview, TangentOp) for op in self._ops)
        more = f"{', tangents' if self.has_tangents else ''}{', layouts' if self.has_layouts else ''}"
        self.lines.append(f"def {name}(arguments{more}):")
        if parameters:
            self.line(f"{as_tuple(parameters)} = arguments")
        self.line("arguments.clear()")
        if self.has_tangents:
            self.line(f"gradients = [None] * {len(parameters)}")
        if role(self.function) is Role.REGION:
            spoil_results(self)
        for question, ops in groupby(self._ops, _question):
            run = list(ops)
            is_order_free = question != _COPIED or are_independent(self.function, [op.opview for op in run])
            for self.run in [run] if is_order_free else [[op] for op in run]:
                for op in self.run:
                    self.starts.append(len(self.lines))
                    self._statement(op)
        return Source(name, "\n".join(self.lines) + "\n", self.namespace)

    def line(self, text: str) -> None:
        """Adds a statement."""
        self.lines.append(f"    {text}")

    def name(self, value: ir.Value) -> str:
        """The variable, or the constant's expression, that stands for `value`."""
        value = self.aliases.get(value, value)
        if value not in self.names:
            self.names[value] = f"v{len(self.names)}"
        return self.names[value]

    def bind(self, prefix: str, thing: object) -> str:
        """Puts `thing` into the function's namespace, once, under a readable name."""
        name, count = prefix, 0
        while self.namespace.setdefault(name, thing) is not thing:
            count += 1
            name = f"{prefix}_{count}"
        return name

    def bound(self, name: str, default: object) -> str:
        """Like `bind`, for what `helpers` may put something else in place of."""
        return self.bind(name, self.helpers.get(name, default))

    def called(self, callee: str) -> str:
        """The name of the function `callee`.

        Raises:
            ModuleError: if the module has none that can be called here, naming those that can.
        """
        if callee not in self.bindings:
            valid = ", ".join(f"'@{name}'" for name in self.bindings) or "none"
            raise ModuleError(f"there is no function '@{callee}' that can be called here, valid are {valid}")
        return self.bind(made_name(callee), self.bindings[callee])

    def role_of(self, callee: str) -> Role | None:
        """What the function `callee` is for, in the module that the emitted one stands in."""
        found = None if self._module is None else self._module.functions.get(callee)
        return None if found is None else role(found)

    def assign(self, results: Iterable[ir.Value], expression: str) -> None:
        """Names what `expression` gives: one result alone, several in a tuple."""
        names = [self.name(result) for result in results]
        self.line(f"{', '.join(names)} = {expression}" if names else expression)

    def assign_tuple(self, results: Iterable[ir.Value], expression: str) -> None:
        """Like `assign`, for a callee that returns a tuple even of one."""
        names = [self.name(result) for result in results]
        self.line(f"{as_tuple(names)} = {expression}" if names else expression)

    @cached_property
    def _module(self) -> Module | None:
        return module_of(self.function)

    @cached_property
    def home(self) -> str:
        """Where memory lies that names no device, in torch's words."""
        parent = self.function.operation.parent
        return CPU if parent is None else home(parent)

    @cached_property
    def symbols(self) -> dict[int, str]:
        """The names of the function's symbols, by number."""
        return {number: self.name(value) for number, value in all_symbols(self.function).items()}

    @cached_property
    def buffers(self) -> Buffers:
        """Which values lie in the same memory."""
        return host_buffers(self.function)

    @cached_property
    def _ops(self) -> list[ir.Operation]:
        return body(self.function)

    @cached_property
    def aliases(self) -> dict[ir.Value, ir.Value]:
        """Values that are their memory: reads of what this function does not write, and destinations read back."""
        found: dict[ir.Value, ir.Value] = {}
        for op in self._ops:
            is_read = isinstance(op.opview, ReadOp) and memory_root(op.opview.ref) not in self.written
            if is_read or op.name == LOAD:
                found[op.results[0]] = found.get(op.operands[0], op.operands[0])
        return found

    def _statement(self, op: ir.Operation) -> None:
        try:
            self._emit(op)
        except NotImplementedError:
            raise
        except (ModuleError, *_NONSENSE) as error:
            if str(error).startswith(str(op.location)):
                raise  # it names the location
            is_ours = isinstance(error, ModuleError)
            message = error if is_ours else f"{type(error).__name__}: {error}"
            cause = None if is_ours else error
            raise ModuleError(f"{op.location}: '{op.name}' op can't be said in Python: {message}") from cause

    def _emit(self, op: ir.Operation) -> None:
        constant = aten.constant(op, self.names)
        if constant is not None:
            self.names[op.results[0]] = constant
            return
        emit = _OURS.get(type(op.opview))
        if emit is not None:
            emit(self, op.opview)
        else:
            emit_torch(self, op)


_COPIED = (WriteOp, "copied")


def _question(op: ir.Operation) -> tuple | None:
    """What must be known before `op` runs, or how it is done; of many at once it costs little each."""
    match op.opview:
        case DestinationOp() as destination:
            return DestinationOp, destination.proof_name == "none"
        case WriteOp() if IN_PLACE in op.attributes:
            return (WriteOp,)
        case WriteOp() as write if is_copied(write):
            return _COPIED
    return None


def check_body(function: func.FuncOp) -> None:
    """Raises ModuleError unless `function` has a body of one block that returns."""
    blocks = list(function.body.blocks)
    if len(blocks) != 1 or not isinstance(terminator(function).opview, func.ReturnOp):
        expected = f"expected '@{symbol(function)}' to have one block, which returns, got {len(blocks)} blocks"
        raise ModuleError(f"{function.location}: {expected}")

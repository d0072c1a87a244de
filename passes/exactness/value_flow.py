"""Which step computes what which others use, over functions that call or follow one another, as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from typing import NamedTuple

from torch_mlir import ir

from dovetail.dialects.attributes import SAVED
from dovetail.dialects.building.cloning import attributes_key
from dovetail.dialects.dataflow import follow, follow_ops
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, Role, arguments, result_fact, role, symbol
from dovetail.dialects.statements.calls import is_extern, made
from dovetail.dialects.torch_facts.exactness import count_by, deciding_operands, is_number, is_repeatable
from dovetail.dialects.torch_facts.ops import is_constant, row


class FlowStep(NamedTuple):
    """One result of a computation, or one argument.

    Attributes:
        op: what computes; None for an argument.
        host: the function that has it computed, itself or by a region.
        number: which result of `op` it is.
        operands: the step of each operand of `op`; None for constants.
        decided_by: the operands whose last bits decide; empty where nothing is decided.
        differs: whether it gives other bits for the same operands elsewhere.
        varies: whether it differs, or what it comes from does.
        counts: how many truth values one of its numbers counts at most; 0 of what is no count.
        argument: that, if it is one.
    """

    op: ir.Operation | None
    host: str
    number: int
    operands: tuple[int | None, ...] = ()
    decided_by: tuple[int, ...] = ()
    differs: bool = False
    varies: bool = False
    counts: int = 0
    argument: ir.Value | None = None

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, no truth values."""
        value = self.argument if self.op is None else made(self.op)[self.number]
        assert value is not None
        return is_number(value.type)

    @property
    def comes_from(self) -> list[int]:
        """The operands, each once."""
        return _each_once(self.operands)


class ValueFlow:
    """The steps of functions, each after those that it uses; constants are none, numbers made of arguments are.

    Attributes:
        steps: by number.
        regions: the functions that are compiled as one unit.
    """

    def __init__(self, module: Module):
        self.steps: list[FlowStep] = []
        self.regions = frozenset(module.regions)
        self._module = module
        self._symbols = {op.operation: name for name, op in module.functions.items()}
        self._keys: list[int] = []
        self._numbers: dict[object, int] = {}
        self._constants: dict[ir.Value, int] = {}

    def add(self, name: str, passed: Mapping[int, int] | None = None) -> list[int | None]:
        """Adds the steps of function `name` and of the regions that it calls; returns those of its results.

        `passed` has the steps that are its arguments, by the argument's number; others become steps of their own.
        """
        function_op, passed = self._module.functions[name], passed or {}
        taken = [
            passed[number] if number in passed else self.given(argument, name)
            for number, argument in enumerate(arguments(function_op))
        ]
        return follow(function_op, taken, self._module, partial(self._compute, name))

    def given(self, value: ir.Value, host: str) -> int:
        """Adds a step for a value that nothing here computes."""
        return self._append(FlowStep(None, host, 0, argument=value))

    def follow(self, ops: Iterable[ir.Operation], host: str, known: dict[ir.Value, int | None]) -> None:
        """Adds the steps of `ops`, in order, and of the regions that they call, to those that are `known` by value."""
        follow_ops(ops, self._module, partial(self._compute, host), known)

    def function(self, step: FlowStep) -> str:
        """The symbol of the function that `step` stands in."""
        return step.host if step.op is None else self._symbols[step.op.parent]

    def alike(self, step: FlowStep) -> list[int]:
        """The operands of `step` that have to be equal where its results have to."""
        if step.op is None or not row(step.op).keeps_equality:
            return []
        return [each for each in step.comes_from if self.steps[each].is_number]

    def _append(self, step: FlowStep) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _compute(self, host: str, op: ir.Operation, given: Sequence[int | None]) -> Iterable[int | None]:
        """The steps of what `op` makes; none of a constant."""
        operands = tuple(given)
        used = [operand for operand in operands if operand is not None]
        if not used and is_constant(op):
            return repeat(None)
        deciding = deciding_operands(op)
        decided_by = tuple(_each_once([operands[number] for number in deciding])) if deciding else ()
        first = operands[0] if operands else None
        counts = count_by(op, 0 if first is None else self.steps[first].counts)
        differs = not counts and not is_repeatable(op)
        varies = differs or any(self.steps[operand].varies for operand in used)
        facts = operands, decided_by, differs, varies, counts
        return (self._append(FlowStep(op, host, number, *facts)) for number in count())

    def key(self, index: int) -> int:
        """What is equal for steps that compute the same; found when asked for: mostly there is nothing to compare."""
        while len(self._keys) <= index:
            self._keys.append(self._computed(len(self._keys)))
        return self._keys[index]

    def _computed(self, index: int) -> int:
        """The key of a step, of which those before it are known; a copy is what it copies."""
        step = self.steps[index]
        if step.op is None or is_extern(step.op):
            return self._number((step.op or index, step.number))
        pairs = zip(step.op.operands, step.operands, strict=True)
        used = [self._constant(value) if each is None else self._keys[each] for value, each in pairs]
        if step.op.name == CopyOp.OPERATION_NAME:
            return used[0]
        types = () if used else tuple([value.type for value in step.op.results])
        return self._number((step.op.name, tuple(used), attributes_key(step.op, "dovetail."), types, step.number))

    def _constant(self, value: ir.Value) -> int:
        if value not in self._constants:
            op = value.owner.operation
            parts = tuple([self._constant(operand) for operand in op.operands])
            self._constants[value] = self._number((op.name, parts, attributes_key(op, "dovetail.")))
        return self._constants[value]

    def _number(self, what: object) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _each_once(steps: Iterable[int | None]) -> list[int]:
    return [step for step in dict.fromkeys(steps) if step is not None]


def flows(module: ir.Module) -> list[ValueFlow]:
    """Of `@joint`, or of `@forward` and then `@backward`, which takes what the other saves; and of each subgraph."""
    found = Module(module)
    listed = []
    for name, function_op in found.of(Role.JOINT, Role.FORWARD, Role.SUBGRAPH).items():
        flow = ValueFlow(found)
        results = flow.add(name)
        if role(function_op) is Role.FORWARD and Role.BACKWARD in found:
            saved = [step for index, step in enumerate(results) if result_fact(function_op, index, SAVED) is not None]
            flow.add(symbol(found.backward), {index: step for index, step in enumerate(saved) if step is not None})
        listed.append(flow)
    return listed


def deciding_ops(module: ir.Module) -> set[ir.Operation]:
    """The ops whose last bits may decide something: in two computations of one, a decision could meet both."""
    return {op for flow in flows(module) for op in _deciding(flow)}


def _deciding(flow: ValueFlow) -> list[ir.Operation]:
    decided = [each for step in flow.steps for each in step.decided_by]
    steps = [flow.steps[index] for index in reachable(decided, lambda index: flow.alike(flow.steps[index]))]
    return [step.op for step in steps if step.varies and step.op is not None]

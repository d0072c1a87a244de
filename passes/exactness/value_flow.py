"""Which step computes what which others use, over functions that call or follow one another, as numbers."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import SAVED
from dovetail.dialects.calls import is_extern
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, Role, arguments, body, referred, result_fact, role, symbol
from dovetail.dialects.torch_facts.exactness import count_by, deciding_operands, is_number, is_repeatable
from dovetail.dialects.torch_facts.ops import is_constant, row
from dovetail.passes.rewriting.cloning import attributes_key


class FlowStep(NamedTuple):
    """One result of a computation, or one argument.

    Attributes:
        op: what computes; None for an argument.
        host: the function that has it computed, itself or by a region.
        function: the function that it stands in.
        number: which result of `op` it is.
        is_number: whether its values are numbers, no truth values.
        operands: the step of each operand of `op`; None for constants.
        decided_by: the operands whose last bits decide; empty where nothing is decided.
        differs: whether it gives other bits for the same operands elsewhere.
        varies: whether it differs, or what it comes from does.
        counts: how many truth values one of its numbers counts at most; 0 of what is no count.
    """

    op: ir.Operation | None
    host: str
    function: str
    number: int
    is_number: bool
    operands: tuple[int | None, ...] = ()
    decided_by: tuple[int, ...] = ()
    differs: bool = False
    varies: bool = False
    counts: int = 0

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

    def __init__(self, module: ir.Module):
        self.steps: list[FlowStep] = []
        found = Module(module)
        self._functions = found.functions
        self.regions = frozenset(found.regions)
        self._keys: list[int] = []
        self._numbers: dict[object, int] = {}
        self._constants: dict[ir.Value, int] = {}

    def add(self, name: str, passed: Mapping[int, int] | None = None, host: str = "") -> list[int | None]:
        """Adds the steps of function `name` and of the regions that it calls; returns those of its results.

        `passed` has the steps that are its arguments, by the argument's number; others become steps of their own.
        """
        function_op, known = self._functions[name], dict[ir.Value, int]()
        for number, argument in enumerate(arguments(function_op)):
            given = (passed or {}).get(number)
            known[argument] = self.given(argument, host or name, name) if given is None else given
        *ops, end = body(function_op)
        self.follow(ops, host or name, name, known)
        return [known.get(value) for value in end.operands]

    def given(self, value: ir.Value, host: str, function: str) -> int:
        """Adds a step for a value that nothing here computes."""
        return self._append(FlowStep(None, host, function, 0, is_number(value.type)))

    def follow(self, ops: Iterable[ir.Operation], host: str, function: str, known: dict[ir.Value, int]) -> None:
        """Adds the steps of `ops`, in order, and of the regions that they call, to those that are `known` by value."""
        for op in ops:
            if is_constant(op) and not any(value in known for value in op.operands):
                continue
            callee = referred(op, "callee") if op.name == func.CallOp.OPERATION_NAME else ""
            if callee in self.regions:
                results = self.add(callee, dict(enumerate(known[value] for value in op.operands)), host)
            else:
                results = self._compute(op, host, function, known)
            for value, step in zip(op.results, results, strict=True):
                if step is not None:
                    known[value] = step

    def alike(self, step: FlowStep) -> list[int]:
        """The operands of `step` that have to be equal where its results have to."""
        if step.op is None or not row(step.op).keeps_equality:
            return []
        return [each for each in step.comes_from if self.steps[each].is_number]

    def _append(self, step: FlowStep) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _compute(self, op: ir.Operation, host: str, function: str, known: Mapping[ir.Value, int]) -> list[int | None]:
        """The steps of the results of `op`."""
        operands = tuple([known.get(value) for value in op.operands])
        deciding = deciding_operands(op)
        decided_by = tuple(_each_once([operands[number] for number in deciding])) if deciding else ()
        first = operands[0] if operands else None
        counts = count_by(op, 0 if first is None else self.steps[first].counts)
        differs = not counts and not is_repeatable(op)
        varies = differs or any(self.steps[operand].varies for operand in operands if operand is not None)
        facts = operands, decided_by, differs, varies, counts
        return [
            self._append(FlowStep(op, host, function, number, is_number(value.type), *facts))
            for number, value in enumerate(op.results)
        ]

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
    made = []
    for name, function_op in found.of(Role.JOINT, Role.FORWARD, Role.SUBGRAPH).items():
        flow = ValueFlow(module)
        results = flow.add(name)
        if role(function_op) is Role.FORWARD and Role.BACKWARD in found:
            saved = [step for index, step in enumerate(results) if result_fact(function_op, index, SAVED) is not None]
            flow.add(symbol(found.backward), {index: step for index, step in enumerate(saved) if step is not None})
        made.append(flow)
    return made


def deciding_ops(module: ir.Module) -> set[ir.Operation]:
    """The ops whose last bits may decide something: in two computations of one, a decision could meet both."""
    return {op for flow in flows(module) for op in _deciding(flow)}


def _deciding(flow: ValueFlow) -> list[ir.Operation]:
    decided = [each for step in flow.steps for each in step.decided_by]
    steps = [flow.steps[index] for index in reachable(decided, lambda index: flow.alike(flow.steps[index]))]
    return [step.op for step in steps if step.varies and step.op is not None]

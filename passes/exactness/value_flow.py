"""Which step computes what which others use, over functions that call or follow one another, as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import SAVED
from dovetail.dialects.calls import is_extern
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import Module, Role, body, referred, result_fact, role, symbol
from dovetail.dialects.torch_facts.exactness import deciding_operands, is_number, is_repeatable
from dovetail.dialects.torch_facts.ops import is_constant, row
from dovetail.passes.rewriting.cloning import attributes_key


@dataclass(frozen=True, slots=True)
class Step:
    """One result of a computation, or one argument.

    Attributes:
        op: what computes; None for an argument.
        host: the function that has it computed, itself or by a region.
        place: the function that it stands in.
        key: the same for steps that compute the same.
        operands: the step of each operand of `op`; None for constants.
        differs: whether it gives other bits for the same operands elsewhere.
        varies: whether it differs, or what it comes from does.
    """

    op: ir.Operation | None
    host: str
    place: str
    key: int
    operands: tuple[int | None, ...] = ()
    differs: bool = False
    varies: bool = False

    @property
    def decided_by(self) -> list[int]:
        """The operands whose last bits decide; empty where nothing is decided."""
        return [] if self.op is None else self._steps(deciding_operands(self.op))

    @property
    def alike(self) -> list[int]:
        """The operands that have to be equal where its results have to."""
        if self.op is None or not row(self.op).keeps_equality:
            return []
        return self._steps([value for value in self.op.operands if is_number(value)])

    @property
    def comes_from(self) -> list[int]:
        """The operands, each once."""
        return [each for each in dict.fromkeys(self.operands) if each is not None]

    def _steps(self, chosen: Sequence[ir.Value]) -> list[int]:
        wanted = set(chosen)
        values = zip(self.op.operands if self.op else (), self.operands, strict=True)
        return list(dict.fromkeys(step for value, step in values if step is not None and value in wanted))


class ValueFlow:
    """The steps of functions, each after those that it uses; constants are none.

    Attributes:
        steps: by number.
        regions: the functions that are compiled as one unit.
    """

    def __init__(self, module: ir.Module):
        self.steps: list[Step] = []
        self._functions = Module(module).functions
        self.regions = frozenset(Module(module).regions)
        self._keys: dict[object, int] = {}

    def add(self, name: str, passed: Mapping[int, int] | None = None, host: str = "") -> list[int | None]:
        """Adds the steps of function `name` and of the regions that it calls; returns those of its results.

        `passed` has the steps that are its arguments, by the argument's number; others become steps of their own.
        """
        function_op, known = self._functions[name], dict[ir.Value, int]()
        for number, argument in enumerate(function_op.body.blocks[0].arguments):
            given = (passed or {}).get(number)
            known[argument] = self.given(argument, host or name, name) if given is None else given
        *ops, end = body(function_op)
        self.follow(ops, host or name, name, known)
        return [known.get(value) for value in end.operands]

    def given(self, value: ir.Value, host: str, place: str) -> int:
        """Adds a step for a value that nothing here computes."""
        return self._append(Step(None, host, place, self._key(value)))

    def follow(self, ops: Iterable[ir.Operation], host: str, place: str, known: dict[ir.Value, int]) -> None:
        """Adds the steps of `ops`, in order, and of the regions that they call, to those that are `known` by value."""
        for op in ops:
            if is_constant(op):
                continue
            callee = referred(op.opview, "callee") if op.name == func.CallOp.OPERATION_NAME else ""
            if callee in self.regions:
                results = self.add(callee, dict(enumerate(known[value] for value in op.operands)), host)
            else:
                results = self._compute(op, host, place, known)
            known.update({value: step for value, step in zip(op.results, results, strict=True) if step is not None})

    def _append(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def _compute(self, op: ir.Operation, host: str, place: str, known: Mapping[ir.Value, int]) -> list[int | None]:
        """The steps of the results of `op`."""
        values = list(op.operands)
        operands = tuple([known.get(value) for value in values])
        differs = not is_repeatable(op)
        varies = differs or any(self.steps[each].varies for each in operands if each is not None)
        key = self._key(op if is_extern(op) else self._computed(op, values, operands))
        keys = [self._key((key, result)) for result in range(len(op.results))]
        if op.name == CopyOp.OPERATION_NAME:
            keys = [self.steps[each].key if each is not None else self._constant(values[0]) for each in operands]
        return [self._append(Step(op, host, place, each, operands, differs, varies)) for each in keys]

    def _computed(self, op: ir.Operation, values: list[ir.Value], operands: tuple[int | None, ...]) -> tuple:
        """What is equal for ops that compute the same."""
        pairs = zip(values, operands, strict=True)
        used = tuple([self.steps[step].key if step is not None else self._constant(value) for value, step in pairs])
        types = () if used else tuple(value.type for value in op.results)
        return op.name, used, _attributes(op), types

    def _constant(self, value: ir.Value) -> int:
        op = value.owner.operation
        return self._key((op.name, tuple([self._constant(each) for each in op.operands]), _attributes(op)))

    def _key(self, what: object) -> int:
        return self._keys.setdefault(what, len(self._keys))


def _attributes(op: ir.Operation) -> tuple:
    return tuple([(name, value) for name, value in attributes_key(op) if not name.startswith("dovetail.")])


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

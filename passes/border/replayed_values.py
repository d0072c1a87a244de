"""What a replay of a border's gradient takes: of the call's arguments, of its saved values, of the random generators.

A replay computes `@forward` again as far as a gradient depends on it, then `@backward`, under autograd. Of the saved
values it takes those that have a history of their own (arguments, differentiable results) or need none (numbers), and
what a mutated argument held. The others it computes again, which gives them theirs. No derivative of a sum takes what
is added: of a saved one it takes the value, and computes the history alone, of what stands in for arguments. Parameters
and buffers live on anyway.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import repeat
from operator import or_

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, STATIC, STRIDES, SYMBOL
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import DestinationOp, OwnOp, ReadOp
from dovetail.dialects.reading import Facts, Module, argument_facts, made_by, referred, returned
from dovetail.dialects.sizes.symbols import used_symbols
from dovetail.dialects.statements.calls import saved_kinds
from dovetail.dialects.statements.devices import Devices
from dovetail.dialects.statements.effects import Effect, effect
from dovetail.dialects.statements.operand_strides import is_opaque
from dovetail.dialects.statements.regions import is_copy
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.types import is_differentiable


@dataclass(frozen=True)
class Replayed:
    """What a replay takes as the call left it.

    Attributes:
        arguments: the numbers of the call's arguments.
        histories: of those of which it takes the history alone.
        saved: the numbers of the saved values, each with the argument whose value it is, None of any other.
        draws: the devices on which `@forward` draws random numbers, none if the replay draws none.
        refused: the first op that it would have to run, and that can't run again, None without.
    """

    arguments: list[int]
    histories: list[int]
    saved: dict[int, int | None]
    draws: list[str]
    refused: ir.Operation | None


def replayed(border: func.FuncOp, module: Module) -> Replayed:
    """Finds out what a replay of the gradient of `border`, whose functions fit together, takes."""
    walk = _Walk(border, module, {})
    sums = walk.sums()
    return _Walk(border, module, sums).takes(sums) if sums else walk.takes({})


@dataclass(frozen=True)
class _Value:
    """The sources that a value hangs on, a bit for each, and the argument whose value it is, if it is one's.

    Its `derivative` hangs on no others of them than these; `origin` is the number of the op that made it.
    """

    sources: int = 0
    argument: int | None = None
    derivative: int = 0
    origin: int = 0


class _Walk:
    """One walk through the halves of `border`, where the saved values `sums`, by number, are taken as they are."""

    def __init__(self, border: func.FuncOp, module: Module, sums: Mapping[int, _Value]):
        forward, backward = (module.functions[referred(border, name)] for name in (FORWARD, BACKWARD))
        owned, kinds = len(border.type.results), saved_kinds(forward)
        self.count = count = len(border.type.inputs)
        self.kinds, self.devices = kinds, Devices(module.operation)
        static = sum(1 << number for number, each in enumerate(argument_facts(module.call)) if STATIC in each)
        instead = {each.origin: _Value(1 << count + number | each.derivative) for number, each in sums.items()}
        self.sources = sources = _Sources(count, len(kinds), static, instead)
        sources.note_symbols([*argument_facts(forward), *argument_facts(backward)[: len(kinds)]])
        given = [_Value(sources.bit(number)) for number in range(count)]
        self.values = [each or _Value() for each in follow(forward, given, module, sources.made)[owned:]]
        is_own = _needs_no_history(forward, owned)
        self.taken = {
            number: each.argument
            for number, each in enumerate(self.values)
            if each.argument is not None or is_own[number]
        }
        self.drawing = [op for op, _ in sources.ops if effect(op) is Effect.DRAWS and op.results]
        saved = [
            _Value(sources.bit(count + number) if number in self.taken else each.sources)
            for number, each in enumerate(self.values)
        ]
        tangents = [_Value()] * (len(backward.type.inputs) - len(saved))
        gradients = follow(backward, [*saved, *tangents], module, sources.made)
        # What is read of an argument is the first saved value that is its value.
        self.held = {argument: number for number, argument in reversed(self.taken.items()) if argument is not None}
        found = reduce(or_, (each.sources for each in gradients if each is not None), 0)
        self.needed = sources.needed(found, self.held)

    def sums(self) -> dict[int, _Value]:
        """The saved values, by number, that are sums of arguments; none where one is saved twice."""
        found = {
            number: each
            for number, each in enumerate(self.values)
            if self.kinds[number] == "private" and number not in self.taken and self._is_sum(each)
        }
        return found if len({each.origin for each in found.values()}) == len(found) else {}

    def _is_sum(self, value: _Value) -> bool:
        """Whether its derivative hangs on less than the value does, that is on nothing but arguments."""
        return bool(value.sources & ~value.derivative) and value.sources >> self.count == 0

    def takes(self, sums: Mapping[int, _Value]) -> Replayed:
        count, needed = self.count, self.needed
        taken = self.taken | dict.fromkeys(sums)
        saved = {number: taken[number] for number in sorted(taken) if needed >> count + number & 1}
        added = reduce(or_, (each.sources for number, each in sums.items() if number in saved), 0)
        held = {argument for argument, number in self.held.items() if number in saved}
        return Replayed(
            [number for number in range(count) if needed >> number & 1],
            [number for number in range(count) if (added & ~needed) >> number & 1 and number not in held],
            saved,
            list(dict.fromkeys(self.devices.of(op.results[0]) for op in self.drawing))
            if self.sources.draws(needed)
            else [],
            self.sources.refused(needed),
        )


_NOTHING = _Value()
_SHOWING = (ReadOp.OPERATION_NAME, DestinationOp.OPERATION_NAME)


@dataclass
class _Sources:
    """What values of a replay hang on, numbered in this order: arguments, saved values, and ops that do more.

    `ops` are those that draw, write, branch or loop, in the order in which they run, with the sources of what they
    take. `symbols` has the sources that bring each symbol, `static` those that are parameters and buffers; `instead`,
    what stands for the results of some ops, by their place among all that run.
    """

    arguments: int
    saved: int
    static: int
    instead: Mapping[int, _Value]
    ops: list[tuple[ir.Operation, int]] = field(default_factory=list)
    symbols: dict[int, int] = field(default_factory=dict)
    count: int = 0

    def bit(self, number: int) -> int:
        return 1 << number

    def note_symbols(self, facts: Sequence[Facts]) -> None:
        """Notes which arguments and saved values are symbols; `facts` are what is said of each."""
        for number, each in enumerate(facts):
            if SYMBOL in each:
                symbol = each[SYMBOL].value
                self.symbols[symbol] = self.symbols.get(symbol, 0) | self.bit(number)

    def made(self, op: ir.Operation, operands: Sequence[_Value | None]) -> Iterator[_Value]:
        """What stands for the results of `op`."""
        self.count += 1
        if not operands and op.name.startswith("torch.constant."):
            return repeat(_NOTHING)
        return repeat(self.instead.get(self.count) or replace(self._made(op, operands), origin=self.count))

    def _made(self, op: ir.Operation, operands: Sequence[_Value | None]) -> _Value:
        if is_copy(op):
            return operands[0] or _NOTHING
        given = [each or _NOTHING for each in operands]
        sources = reduce(or_, (each.sources for each in given), 0)
        if op.name in _SHOWING:
            return _Value(sources, sources.bit_length() - 1 if sources else None, sources & self.static)
        done = self._done(op, sources)
        return _Value(done, derivative=done & ~sources | _of_derivative(op, given, sources))

    def _done(self, op: ir.Operation, sources: int) -> int:
        """The `sources` of what `op` takes and what else it hangs on, and itself if it does more than give results."""
        if STRIDES in op.attributes and is_opaque(op):
            symbols = used_symbols(op.attributes[STRIDES])
            sources = reduce(or_, (self.symbols.get(symbol, 0) for symbol in symbols), sources)
        if control_flow_name(op) or effect(op) in (Effect.DRAWS, Effect.WRITES):
            self.ops.append((op, sources))
            sources |= self._of_op(len(self.ops) - 1)
        return sources

    def needed(self, sources: int, held: Mapping[int, int]) -> int:
        """All that is needed for what hangs on `sources`, where `held` has the saved values that are arguments' values.

        Of the draws, all until the last one: each moves the generator on.
        """
        is_drawn_after = False
        for number, (op, taken) in reversed([*enumerate(self.ops)]):
            is_drawn_after |= effect(op) is Effect.DRAWS and bool(sources & self._of_op(number))
            if is_drawn_after and effect(op) is Effect.DRAWS:
                sources |= self._of_op(number) | taken
        for argument, number in held.items():
            if sources & self.bit(argument):
                sources = sources & ~self.bit(argument) | self.bit(self.arguments + number)
        return sources

    def draws(self, needed: int) -> bool:
        """Whether one of the `needed` ops draws random numbers."""
        return any(
            effect(op) is Effect.DRAWS and needed & self._of_op(number) for number, (op, _) in enumerate(self.ops)
        )

    def refused(self, needed: int) -> ir.Operation | None:
        """The first op that writes, wherever it is, or branches or loops and is `needed`."""
        for number, (op, _) in enumerate(self.ops):
            if effect(op) is Effect.WRITES or (control_flow_name(op) and needed & self._of_op(number)):
                return op
        return None

    def _of_op(self, number: int) -> int:
        return self.bit(self.arguments + self.saved + number)


def _of_derivative(op: ir.Operation, given: Sequence[_Value], sources: int) -> int:
    """Of the `sources` of all operands, those that the derivative of the result hangs on."""
    facts = row(op)
    if facts.multiplies and len(given) == 2 and any(each.sources == 0 for each in given):
        return given[0].derivative | given[1].derivative
    if not facts.is_sum_of_operands:
        return sources
    pairs = zip(op.operands, given, strict=False)  # memory that it writes into is none of `given`
    return reduce(or_, (each.derivative if is_differentiable(value.type) else each.sources for value, each in pairs), 0)


def _needs_no_history(forward: func.FuncOp, owned: int) -> list[bool]:
    """Of each saved value, whether the user gets it as a differentiable result, or it can't be differentiated."""
    handed_over = returned(forward)
    owns = [op.opview for value in handed_over[:owned] if (op := made_by(value, OwnOp.OPERATION_NAME))]
    handed_out = [own.value for own in owns if own.is_differentiable]
    return [value in handed_out or not is_differentiable(value.type) for value in handed_over[owned:]]

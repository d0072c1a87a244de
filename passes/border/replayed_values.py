"""What a replay of a border's gradient takes: of the call's arguments, of its saved values, of the random generators.

A replay computes `@forward` again as far as a gradient depends on it, then `@backward`, under autograd. Of the saved
values it takes those that have a history of their own (arguments, differentiable results) or need none (numbers), and
what a mutated argument held. The others it computes again, which gives them theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import repeat
from operator import or_

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, STRIDES, SYMBOL
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
from dovetail.dialects.torch_facts.types import is_differentiable


@dataclass(frozen=True)
class Replayed:
    """What a replay takes as the call left it.

    Attributes:
        arguments: the numbers of the call's arguments.
        saved: the numbers of the saved values, each with the argument whose value it is, None of any other.
        draws: the devices on which `@forward` draws random numbers, none if the replay draws none.
        refused: the first op that it would have to run, and that can't run again, None without.
    """

    arguments: list[int]
    saved: dict[int, int | None]
    draws: list[str]
    refused: ir.Operation | None


def replayed(border: func.FuncOp, module: Module) -> Replayed:
    """Finds out what a replay of the gradient of `border`, whose functions fit together, takes."""
    forward, backward = (module.functions[referred(border, name)] for name in (FORWARD, BACKWARD))
    count, owned, kinds = len(border.type.inputs), len(border.type.results), saved_kinds(forward)
    sources = _Sources(count, len(kinds))
    sources.note_symbols([*argument_facts(forward), *argument_facts(backward)[: len(kinds)]])
    given = [_Value(sources.bit(number)) for number in range(count)]
    values = [each or _Value() for each in follow(forward, given, module, sources.made)[owned:]]
    drawing = [op for op, _ in sources.ops if effect(op) is Effect.DRAWS and op.results]
    is_own = _needs_no_history(forward, owned)
    taken = {number: each.argument for number, each in enumerate(values) if each.argument is not None or is_own[number]}
    saved = [
        _Value(sources.bit(count + number) if number in taken else each.sources) for number, each in enumerate(values)
    ]
    tangents = [_Value()] * (len(backward.type.inputs) - len(saved))
    gradients = follow(backward, [*saved, *tangents], module, sources.made)
    devices = Devices(module.operation)
    # What is read of an argument is the first saved value that is its value.
    held = {argument: number for number, argument in reversed(taken.items()) if argument is not None}
    needed = sources.needed(reduce(or_, (each.sources for each in gradients if each is not None), 0), held)
    return Replayed(
        [number for number in range(count) if needed >> number & 1],
        {number: argument for number, argument in taken.items() if needed >> count + number & 1},
        list(dict.fromkeys(devices.of(op.results[0]) for op in drawing)) if sources.draws(needed) else [],
        sources.refused(needed),
    )


@dataclass(frozen=True)
class _Value:
    """The sources that a value hangs on, a bit for each, and the argument whose value it is, if it is one's."""

    sources: int = 0
    argument: int | None = None


_NOTHING = _Value()
_SHOWING = (ReadOp.OPERATION_NAME, DestinationOp.OPERATION_NAME)


@dataclass
class _Sources:
    """What values of a replay hang on, numbered in this order: arguments, saved values, and ops that do more.

    `ops` are those that draw, write, branch or loop, in the order in which they run, with the sources of what they
    take. `symbols` has the sources that bring each symbol.
    """

    arguments: int
    saved: int
    ops: list[tuple[ir.Operation, int]] = field(default_factory=list)
    symbols: dict[int, int] = field(default_factory=dict)

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
        if not operands and op.name.startswith("torch.constant."):
            return repeat(_NOTHING)
        if is_copy(op):
            return repeat(operands[0] or _NOTHING)
        sources = 0
        for each in operands:
            sources |= 0 if each is None else each.sources
        if op.name in _SHOWING:
            return repeat(_Value(sources, sources.bit_length() - 1 if sources else None))
        return repeat(_Value(self._done(op, sources)))

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


def _needs_no_history(forward: func.FuncOp, owned: int) -> list[bool]:
    """Of each saved value, whether the user gets it as a differentiable result, or it can't be differentiated."""
    handed_over = returned(forward)
    owns = [op.opview for value in handed_over[:owned] if (op := made_by(value, OwnOp.OPERATION_NAME))]
    handed_out = [own.value for own in owns if own.is_differentiable]
    return [value in handed_out or not is_differentiable(value.type) for value in handed_over[owned:]]

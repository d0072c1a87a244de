"""Whose memory the saved values of a border lie in, and which gradients need it, as its functions compute them.

A backward may use other values than eager saves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import repeat
from operator import or_

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, REREAD, WATCHED
from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import DestinationOp, OwnOp, RefType, WriteOp
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, argument_facts, made_by, numbers, of_class, referred, returned
from dovetail.dialects.statements.calls import saved_kinds
from dovetail.dialects.statements.saved import SavedValue, tangent_results


class MemoryOfSaved:
    """Whose memory the values that `@forward` returns lie in: an argument's, an owned result's, or nobody's.

    The functions of `border` fit together. `owns` are the owned results, by
    number, without those that `@call` only copies to its arguments: the user does not get that memory.
    """

    def __init__(self, border: func.FuncOp, module: Module):
        self._border, self._module = border, module
        self._forward = module.functions[referred(border, FORWARD)]
        self._facts = argument_facts(border)
        self.returned = returned(self._forward)
        self.owned = len(border.type.results)
        written = _written(border, module)
        made = enumerate(made_by(value, OwnOp.OPERATION_NAME) for value in self.returned[: self.owned])
        self.owns: dict[int, OwnOp] = {number: op.opview for number, op in made if op and number not in written}
        self._numbers = {op.value: number for number, op in self.owns.items()}
        # Of two results of one value, the one that can be differentiated has its history.
        self._numbers |= {op.value: number for number, op in self.owns.items() if op.is_differentiable}
        self._roots = {memory_root(op.value): number for number, op in self.owns.items()}

    def where(self, value: ir.Value) -> SavedValue:
        """Where `value` lies, as a checked saved value says it; a private one where the user can't reach it."""
        root = memory_root(value)
        if isinstance(root.type, RefType):
            return SavedValue("checked", in_argument=ir.BlockArgument(root).arg_number)
        if value in self._numbers:
            return SavedValue("checked", result=self._numbers[value])
        return SavedValue("checked", in_result=self._roots[root]) if root in self._roots else SavedValue("private")

    def facts(self) -> dict[int, SavedValue]:
        """What is true of the results of `@forward`, by number; `saved` is "" for owned ones."""
        saved = self._saved()
        needed = self._needed(saved)
        handed_out = {each.result for each in saved}
        found = {
            number: SavedValue(checked_for=None if number in handed_out else needed.get(memory_root(op.value)))
            for number, op in self.owns.items()
        }
        for number, (value, each) in enumerate(zip(self._values, saved, strict=True), self.owned):
            found[number] = replace(each, checked_for=needed.get(memory_root(value)) if each.is_checked else None)
        return found

    def _saved(self) -> list[SavedValue]:
        """Where each saved value lies, and the tangents that it is combined with."""
        return [
            replace(self.where(value) if kind == "checked" else SavedValue("private"), uses=uses)
            for value, kind, uses in zip(self._values, saved_kinds(self._forward), self._uses(), strict=True)
        ]

    def _needed(self, saved: Sequence[SavedValue]) -> dict[ir.Value, frozenset[int]]:
        """By root of what is checked of `saved`: the results for whose gradients its memory must be unchanged."""
        needed: dict[ir.Value, frozenset[int]] = {}
        for value, each in zip(self._values, saved, strict=True):
            if each.is_checked and each.uses is not None:
                root = memory_root(value)
                needed[root] = needed.get(root, self._watched(root)) | each.uses
        return needed

    @property
    def _values(self) -> list[ir.Value]:
        return self.returned[self.owned :]

    def _uses(self) -> list[frozenset[int]]:
        backward = self._module.functions[referred(self._border, BACKWARD)]
        return saved_uses(backward, tangent_results(backward), self._module)

    def _watched(self, root: ir.Value) -> frozenset[int]:
        """The results for whose gradients eager needs the memory of `root` unchanged, or reads it again."""
        is_argument = isinstance(root.type, RefType)
        own = None if is_argument else self.owns[self._roots[root]]
        facts = self._facts[ir.BlockArgument(root).arg_number] if own is None else own.attributes
        return frozenset((*(numbers(facts, WATCHED) or ()), *(numbers(facts, REREAD) or ())))


def _written(border: func.FuncOp, module: Module) -> set[int]:
    """The results of `border` that `@call` writes."""
    writes = (op for function_op in module.of(Role.CALL).values() for op in of_class(module.ops(function_op), WriteOp))
    results = ((value, made_by(value, func.CallOp.OPERATION_NAME)) for op in writes for value in op.operands)
    return {ir.OpResult(value).result_number for value, call in results if call and module.callee(call) == border}


# The tangents that a value depends on, and where these are none, the saved values: a bit for the number of each, since
# thousands of ops join what their operands depend on.
_Sources = tuple[int, int]


def saved_uses(backward: func.FuncOp, tangents: Sequence[int], module: Module) -> list[frozenset[int]]:
    """For each saved value that `backward` takes, those of `tangents` that it is combined with.

    `tangents` names its last arguments. A backward is linear in its tangents: what depends on several is a sum, and
    each part's saved values are its own.
    """
    saved = len(backward.type.inputs) - len(tangents)
    arguments = [(0, 1 << number) for number in range(saved)] + [(1 << tangent, 0) for tangent in tangents]
    combined: dict[int, int] = {}  # tangents, and the saved values that something combines with just these
    follow(backward, arguments, module, lambda op, given: _joined(op, given, combined))
    uses = [reduce(or_, (of for of, by in combined.items() if by >> number & 1), 0) for number in range(saved)]
    return [frozenset(tangent for tangent in tangents if of >> tangent & 1) for of in uses]


def _joined(op: ir.Operation, given: Sequence[_Sources | None], combined: dict[int, int]) -> Iterator[_Sources]:
    """What that depends on which `op` has made, which is noted where it is both a tangent and a saved value."""
    tangents = saved = 0
    for each in given if op.name != DestinationOp.OPERATION_NAME else ():
        if each is not None:
            tangents |= each[0]
            saved |= each[1]
    if tangents and saved:
        combined[tangents] = combined.get(tangents, 0) | saved
    return repeat((tangents, 0 if tangents else saved))

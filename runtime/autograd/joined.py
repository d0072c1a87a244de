"""`@forward` and `@backward` as one function of the arguments and the tangents, which gives the gradients."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import STRIDES, SYMBOL
from dovetail.dialects.devices import module_beside
from dovetail.dialects.dovetail import OwnOp, ReadOp
from dovetail.dialects.operand_strides import is_opaque
from dovetail.dialects.reading import Module, argument_facts, attribute, body, is_used, made_by, producer, returned
from dovetail.dialects.regions import is_copy
from dovetail.dialects.saved import saved_values
from dovetail.dialects.symbols import used_symbols
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.runtime.autograd.absent_tangents import leave_out
from dovetail.runtime.autograd.effects import is_random, mutates
from dovetail.runtime.autograd.inlining import inlined


class TakenFrom(Enum):
    """Where the joined function has a value from that the program saves."""

    COMPUTED = "computed again, which gives it its history"
    SAVED = "as it was saved: it has a history of its own, or needs none"
    SAVED_AT_PLACE = "as it was saved, with the history that the argument had which it is a copy of"


@dataclass(frozen=True)
class _Saved:
    """A saved value in the joined function, and the argument that it was read from, if it is one's value."""

    value: ir.Value
    source: TakenFrom
    read_from: ir.BlockArgument | None


class Joined:
    """`@forward` and `@backward` as one function without regions, pruned to what the gradients depend on.

    Attributes:
        arguments: its parameters for the arguments.
        taken: its parameters for saved values, by number.
        copied: of those, by number, the argument of whose old value the saved one is a copy.
    """

    def __init__(self, forward: func.FuncOp, backward: func.FuncOp, module: Module):
        stated, count = saved_values(forward, backward), len(forward.type.inputs)
        owned, tangents = len(forward.type.results) - len(stated), list(backward.type.inputs)[len(stated) :]
        with forward.context, ir.Location.unknown():
            self._module = module_beside(forward)
            with ir.InsertionPoint(self._module.body):
                self._function = func.FuncOp("gradient", ir.FunctionType.get([*forward.type.inputs, *tangents], []))
            self._block = self._function.add_entry_block()
            parameters = list(self._block.arguments)
            self.arguments = parameters[:count]
            with ir.InsertionPoint(self._block):
                values = inlined(forward, self.arguments, module)[owned:]
                results = _differentiable_results(forward, owned)
                saved = [
                    _placed(value, number in results, each.is_checked)
                    for number, (value, each) in enumerate(zip(values, stated, strict=True))
                ]
                self.taken = self._take(saved)
                values = [self.taken.get(number, known.value) for number, known in enumerate(saved)]
                func.ReturnOp(inlined(backward, [*values, *parameters[count:]], module))
        _leave_layouts(self.ops())
        self._tangents = len(tangents)
        self._made: list[ir.Module] = []  # a function is gone where nobody holds its module
        copies = ((number, each) for number, each in enumerate(saved) if each.source is TakenFrom.SAVED_AT_PLACE)
        self.copied = {number: each.read_from.arg_number for number, each in copies if each.read_from is not None}
        _prune(self.ops())
        of_saved = argument_facts(backward)
        facts = [*argument_facts(forward), *[{}] * len(tangents), *(of_saved[number] for number in self.taken)]
        taken = zip(self._block.arguments, facts, strict=True)
        self._symbols = {value: ir.IntegerAttr(each[SYMBOL]) for value, each in taken if SYMBOL in each}

    def ops(self) -> list[ir.Operation]:
        return body(self._function)

    def uses(self, parameter: ir.Value) -> bool:
        """Whether an op takes `parameter`, or states strides by the symbol that it is."""
        if is_used(parameter) or parameter not in self._symbols:
            return is_used(parameter)
        symbol, stated = self._symbols[parameter].value, (attribute(op, STRIDES) for op in self.ops())
        return any(each is not None and symbol in used_symbols(each) for each in stated)

    def keep(self, saved: Collection[int]) -> None:
        """Drops the parameters for saved values that are not among `saved`; says of those that stay what is known."""
        for number in [number for number in reversed(self.taken) if number not in saved]:
            self._block.erase_argument(self.taken.pop(number).arg_number)
        kept, attributes = list(self._block.arguments), self._function.attributes
        with self._function.context:
            attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([value.type for value in kept], []))
            facts = [{SYMBOL: self._symbols[each]} if each in self._symbols else {} for each in kept]
            attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(fact) for fact in facts])

    def function(self, absent: Collection[int]) -> func.FuncOp:
        """The function, without what only tangents that are `absent`, by number, reach."""
        if not absent:
            return self._function
        with self._function.context, ir.Location.unknown():
            module = module_beside(self._function)
            with ir.InsertionPoint(module.body):
                made = self._function.operation.clone().opview
            tangents = list(made.body.blocks[0].arguments)[len(self.arguments) :][: self._tangents]
            leave_out(made, tangents, absent)
            _prune(body(made))
        self._made.append(module)
        return made

    def _take(self, saved: Sequence[_Saved]) -> dict[int, ir.BlockArgument]:
        """Makes parameters, by number, for the saved values that are not computed again, and puts them in their places.

        Where one was read from an argument, whatever else reads that argument gets the parameter, too.
        """
        taken: dict[int, ir.BlockArgument] = {}
        for number, kept in enumerate(saved):
            if kept.source is TakenFrom.COMPUTED:
                continue
            taken[number] = self._block.add_argument(kept.value.type, ir.Location.unknown())
            kept.value.replace_all_uses_with(taken[number])
            for use in list(kept.read_from.uses) if kept.read_from is not None else ():
                use.owner.operation.results[0].replace_all_uses_with(taken[number])
        return taken


def _placed(value: ir.Value, is_result: bool, is_checked: bool) -> _Saved:
    """Decides where a saved value comes from; one that `is_result` can be differentiated where it was handed out."""
    read_from = _read_through_copies(value)
    if read_from is not None:
        return _Saved(value, TakenFrom.SAVED if is_checked else TakenFrom.SAVED_AT_PLACE, read_from)
    has_history = is_result or not _is_differentiable(value)
    return _Saved(value, TakenFrom.SAVED if has_history else TakenFrom.COMPUTED, None)


def _leave_layouts(ops: list[ir.Operation]) -> None:
    """Has ops take operands as they lie, unless they may see how: what autograd derives from them lies as eager's."""
    for op in ops:
        if STRIDES in op.attributes and not is_opaque(op):
            del op.attributes[STRIDES]


def _prune(ops: list[ir.Operation]) -> None:
    """Erases what no gradient depends on. A draw stays while one after it does: it moves the generator on."""
    is_drawn_after = False
    for op in reversed(ops[:-1]):
        is_needed = is_used(*op.results)
        is_drawn_after = is_drawn_after or (is_needed and is_random(op))
        if not is_needed and not (is_random(op) and is_drawn_after) and not mutates(op):
            op.erase()


def _differentiable_results(forward: func.FuncOp, owned: int) -> set[int]:
    """Numbers of the saved values that the program hands out as differentiable results."""
    handed_over = returned(forward)
    owns = [op.opview for value in handed_over[:owned] if (op := made_by(value, OwnOp.OPERATION_NAME))]
    handed_out = [own.value for own in owns if own.is_differentiable]
    return {number for number, value in enumerate(handed_over[owned:]) if value in handed_out}


def _read_through_copies(value: ir.Value) -> ir.BlockArgument | None:
    """The argument that `value` is a read of, or a copy of one."""
    while (op := producer(value)) is not None and is_copy(op):
        value = op.operands[0]
    read = made_by(value, ReadOp.OPERATION_NAME)
    return None if read is None else ir.BlockArgument(read.operands[0])


def _is_differentiable(value: ir.Value) -> bool:
    info = shaped_info(value.type)
    if info is None:
        return False  # a number
    dtype = getattr(torch, info.dtype)
    return dtype.is_floating_point or dtype.is_complex

"""`@forward` and `@backward` as one function of the arguments and the tangents, which gives the gradients."""

from collections.abc import Callable, Collection

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.attributes import STRIDES, SYMBOL, TURNED
from dovetail.dialects.reading import Module, argument_facts, attribute, body, is_used, symbol
from dovetail.dialects.statements.devices import module_beside
from dovetail.dialects.statements.effects import Effect, effect
from dovetail.dialects.statements.layouts import layouts_of
from dovetail.dialects.statements.operand_strides import is_opaque
from dovetail.dialects.statements.saved import saved_values
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.errors import ModuleError
from dovetail.runtime.replaying.absent_tangents import leave_out
from dovetail.runtime.replaying.inlining import inlined


def load_joined(
    forward: func.FuncOp, backward: func.FuncOp, module: Module, arguments: Collection[int], absent: Collection[int]
) -> Callable:
    """The function, without regions and pruned to what the gradients depend on.

    It takes what the forward does, the tangents, and the saved values that say `dovetail.for_replay`. What only
    tangents that are `absent`, by number, reach is left out.

    Raises:
        ModuleError: if it needs others of the arguments than `arguments`, by number.
    """

    def returned(values: list, tangents: list) -> list:
        return inlined(backward, [*values, *tangents], module)

    # How eager hands them out is said of the results.
    return _load(forward, backward, module, arguments, (), absent, returned, attribute(backward, "res_attrs"))


def load_sums(
    forward: func.FuncOp, backward: func.FuncOp, module: Module, arguments: Collection[int], sums: Collection[int]
) -> Callable:
    """The function of the same that computes the saved values `sums`, by number, anew."""

    def returned(values: list, tangents: list) -> list:
        return [values[number] for number in sums]

    return _load(forward, backward, module, arguments, sums, (), returned)


def _load(
    forward: func.FuncOp,
    backward: func.FuncOp,
    module: Module,
    arguments: Collection[int],
    anew: Collection[int],
    absent: Collection[int],
    returned: Callable[[list, list], list],
    facts_of_results: ir.Attribute | None = None,
) -> Callable:
    """The function that gives what is `returned` for the saved values, those `anew` as computed, and the tangents."""
    saved = saved_values(forward, backward)
    replayed = {number: each.value_of for number, each in enumerate(saved) if each.for_replay}
    types, of_saved = list(backward.type.inputs), argument_facts(backward)
    taken = [*forward.type.inputs, *types[len(saved) :], *(types[number] for number in replayed)]
    facts = [*argument_facts(forward), *of_saved[len(saved) :], *(of_saved[number] for number in replayed)]
    with forward.context, ir.Location.unknown():
        beside = module_beside(forward)  # the function is gone where nobody holds it
        with ir.InsertionPoint(beside.body):
            made = func.FuncOp("gradient", ir.FunctionType.get(taken, []))
        symbols = [{SYMBOL: each[SYMBOL]} if SYMBOL in each else {} for each in facts]
        made.attributes["arg_attrs"] = ir.ArrayAttr.get(list(map(ir.DictAttr.get, symbols)))
        parameters = list(made.add_entry_block().arguments)
        given, rest = parameters[: len(forward.type.inputs)], parameters[len(forward.type.inputs) :]
        tangents = rest[: len(types) - len(saved)]
        as_saved = dict(zip(replayed, rest[len(tangents) :], strict=True))
        with ir.InsertionPoint(made.body.blocks[0]):
            values = inlined(forward, given, module)[-len(saved) :] if saved else []
            for number, argument in replayed.items():
                if number not in anew:
                    _stand_in(as_saved[number], values[number], None if argument is None else given[argument])
                    values[number] = as_saved[number]
            func.ReturnOp(returned(values, tangents))
        if facts_of_results is not None:
            made.attributes["res_attrs"] = facts_of_results
        _leave_layouts(body(made))
        if absent:
            leave_out(made, tangents, absent)
        _prune(body(made))
        for number, value in enumerate(given):
            if is_used(value) and number not in arguments:
                expected = f"expected argument {number} of the border to say so"
                raise ModuleError(f"{forward.location}: a replay of '@{symbol(forward)}' takes it, {expected}")
        return Emitter(made, {}, has_layouts=layouts_of(module) is not None).emit().load()


def _stand_in(taken: ir.Value, computed: ir.Value, argument: ir.Value | None) -> None:
    """Puts what is `taken` in the place of what was `computed`, and of all that reads `argument`, whose value it is."""
    computed.replace_all_uses_with(taken)
    for use in list(argument.uses) if argument is not None else ():
        read = use.owner.operation.results[0]
        if is_value_type(read.type):
            read.replace_all_uses_with(taken)


def _leave_layouts(ops: list[ir.Operation]) -> None:
    """Has ops take operands as the user's lie, unless they may see how: what autograd derives lies as eager's."""
    for op in ops:
        if TURNED in op.attributes:
            op.results[0].replace_all_uses_with(op.operands[0])
        if STRIDES in op.attributes and not is_opaque(op):
            del op.attributes[STRIDES]


def _prune(ops: list[ir.Operation]) -> None:
    """Erases what no gradient depends on. A draw stays while one after it does: it moves the generator on."""
    is_drawn_after = False
    for op in reversed(ops[:-1]):
        known, is_needed = effect(op), is_used(*op.results)
        is_drawn_after = is_drawn_after or (is_needed and known is Effect.DRAWS)
        if not is_needed and not (known is Effect.DRAWS and is_drawn_after):
            op.erase()

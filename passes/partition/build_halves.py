"""Building both halves of `@joint`.

`@forward` gives what the user will own, what `@call` writes, and what is saved. `@backward` takes the saved values and
the tangents, and gives one gradient, or `none`, for each argument.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FOLLOWED, GRADIENT_STRIDES, SAVED, TANGENT_OF
from dovetail.dialects.building.cloning import constant_none, set_signature, state_facts
from dovetail.dialects.dovetail import GradientOp, OwnOp, RefType, TangentOp
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.ops.copy import copy
from dovetail.dialects.dovetail.ops.own import own
from dovetail.dialects.reading import Role, attribute, module_of, set_role
from dovetail.dialects.sizes.symbols import all_symbols, facts_of, row_major_numbers
from dovetail.dialects.statements.layouts import followed_tangents
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.saved_memory import Fate, SavedMemory


def build_forward(graph: JointGraph, halves: Halves, memory: SavedMemory, saved: Sequence[int]) -> list[ir.Type]:
    """Builds `@forward` before `@joint`; returns the types of its results without the `saved` values."""
    with ir.InsertionPoint(graph.joint):
        forward = func.FuncOp("forward", ir.FunctionType.get([argument.type for argument in graph.arguments], []))
    set_role(forward, Role.FORWARD)
    state_facts(forward, "arg_attrs", dict(enumerate(map(facts_of, graph.arguments))))
    values = dict(zip(graph.arguments, forward.add_entry_block().arguments, strict=True))
    with ir.InsertionPoint(forward.body.blocks[0]):
        graph.clone(sorted(halves.computed(saved)), values)
        owned = [values[graph.values[graph.nodes[index].results[0]]] for index in graph.of(OwnOp)]
        known = all_symbols(forward)
        for value in halves.written:
            cloned = values[graph.values[value]]
            strides = row_major_numbers(graph.values[value], known)
            type_ = RefType.of(cloned.type, [None if isinstance(stride, ir.Value) else stride for stride in strides])
            owned.append(own(cloned, type_, False, [each for each in strides if isinstance(each, ir.Value)]).ref)
        fates = [memory.fate(value) for value in saved]
        kept = [(values[graph.values[value]], fate) for value, fate in zip(saved, fates, strict=True)]
        results = [*owned, *(copy(value).copied if fate is Fate.COPY else value for value, fate in kept)]
        func.ReturnOp(results)
    set_signature(forward, [value.type for value in results])
    if results:
        facts: list[dict[str, ir.Attribute]] = [{}] * len(owned)
        facts += [{SAVED: ir.StringAttr.get(fate.kind)} for fate in fates]
        forward.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(fact) for fact in facts])
    return [value.type for value in owned]


def build_backward(graph: JointGraph, halves: Halves, saved: Sequence[int]) -> None:
    """Builds `@backward` before `@joint`. The arguments are the `saved` values, then the tangents."""
    positions = {graph.nodes[index].results[0]: position for position, index in enumerate(graph.of(OwnOp))}
    tangents = [graph.nodes[index] for index in graph.of(TangentOp)]
    taken = [graph.values[value] for value in saved] + [node.op.results[0] for node in tangents]
    with ir.InsertionPoint(graph.joint):
        backward = func.FuncOp("backward", ir.FunctionType.get([value.type for value in taken], []))
    set_role(backward, Role.BACKWARD)
    facts = [facts_of(graph.values[value]) for value in saved]
    kept = followed_tangents(module_of(graph.joint))
    for node in tangents:
        tied = positions[node.operands[0]]
        fact: dict[str, ir.Attribute] = {TANGENT_OF: i64(tied)}
        facts.append(fact | facts_of(node.op.results[0]) | ({FOLLOWED: ir.UnitAttr.get()} if tied in kept else {}))
    backward.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(fact) for fact in facts])
    values = dict(zip(taken, backward.add_entry_block().arguments, strict=True))
    gradients = {graph.numbers[each.of]: each for each in (graph.nodes[i].view for i in graph.of(GradientOp))}
    with ir.InsertionPoint(backward.body.blocks[0]):
        graph.clone(halves.recomputed(saved), values)
        given = [gradients.get(number) for number in range(len(graph.arguments))]
        results = [constant_none() if gradient is None else values[gradient.value] for gradient in given]
        func.ReturnOp(results)
    set_signature(backward, [value.type for value in results])
    stated = {number: {GRADIENT_STRIDES: attribute(each, GRADIENT_STRIDES)} for number, each in gradients.items()}
    state_facts(backward, "res_attrs", stated)

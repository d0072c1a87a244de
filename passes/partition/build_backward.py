"""Building `@backward`: from the saved values and the tangents to one gradient, or `none`, for each argument."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FOLLOWED, TANGENT_OF
from dovetail.dialects.dovetail import GradientOp, OwnOp, TangentOp
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.layouts import followed_tangents
from dovetail.dialects.reading import Role, module_of, set_role
from dovetail.dialects.symbols import facts_of
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.rewriting.cloning import constant_none, set_signature


def build_backward(graph: JointGraph, halves: Halves, saved: Sequence[int]) -> None:
    """Builds `@backward` before `@joint`. The arguments are the `saved` values, then the tangents."""
    places = {graph.nodes[index].results[0]: place for place, index in enumerate(graph.of(OwnOp))}
    tangents = [graph.nodes[index] for index in graph.of(TangentOp)]
    taken = [graph.values[value] for value in saved] + [node.op.results[0] for node in tangents]
    with ir.InsertionPoint(graph.joint):
        backward = func.FuncOp("backward", ir.FunctionType.get([value.type for value in taken], []))
    set_role(backward, Role.BACKWARD)
    facts = [facts_of(graph.values[value]) for value in saved]
    kept = followed_tangents(module_of(graph.joint))
    for node in tangents:
        tied = places[node.operands[0]]
        fact: dict[str, ir.Attribute] = {TANGENT_OF: i64(tied)}
        facts.append(fact | facts_of(node.op.results[0]) | ({FOLLOWED: ir.UnitAttr.get()} if tied in kept else {}))
    backward.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in facts])
    values = dict(zip(taken, backward.add_entry_block().arguments, strict=True))
    gradients = {graph.numbers[each.of]: each.value for each in (graph.nodes[i].view for i in graph.of(GradientOp))}
    with ir.InsertionPoint(backward.body.blocks[0]):
        graph.clone(halves.recomputed(saved), values)
        results = [
            values[gradients[argument]] if argument in gradients else constant_none()
            for argument in range(len(graph.arguments))
        ]
        func.ReturnOp(results)
    set_signature(backward, [value.type for value in results])

"""Building `@call`, all that touches the user's memory, and `@apply`, the border to autograd."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import (
    ARGUMENTS,
    BACKWARD,
    FORWARD,
    ONCE,
    REACHED,
    REQUIRES_GRAD,
    REREAD,
    RESULTS,
    WATCHED,
    WRITTEN_LAST,
)
from dovetail.dialects.dovetail import (
    DetachOp,
    GradientOp,
    NumberOp,
    OwnOp,
    SetGradModeOp,
    SetMetadataOp,
    TouchOp,
    ViewOp,
    WriteOp,
)
from dovetail.dialects.reading import Role, arguments, copy_attributes, set_role
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.saved_memory import SavedMemory

_AUTOGRAD = (WATCHED, REREAD, REACHED)
_OBSERVED = (WriteOp, TouchOp, ViewOp, DetachOp, SetMetadataOp, SetGradModeOp, NumberOp)


def build_apply(graph: JointGraph, memory: SavedMemory, owned: Sequence[ir.Type]) -> None:
    """Declares `@apply`: to its caller one differentiable function, of which autograd sees nothing else."""
    taken = [each.type for each in graph.arguments]
    with ir.InsertionPoint(graph.joint):
        apply = func.FuncOp("apply", ir.FunctionType.get(taken, list(owned)), visibility="private")
    set_role(apply, Role.BORDER)
    apply.attributes[FORWARD] = ir.FlatSymbolRefAttr.get("forward")
    apply.attributes[BACKWARD] = ir.FlatSymbolRefAttr.get("backward")
    copy_attributes(graph.joint, apply, ONCE, WRITTEN_LAST)
    facts = [{name: fact[name] for name in _AUTOGRAD if name in fact} for fact in memory.facts]
    if any(facts):
        apply.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in facts])


def build_call(graph: JointGraph, halves: Halves, memory: SavedMemory, owned: Sequence[ir.Type]) -> None:
    """Builds `@call` as the module's first function: `@joint` without what `@forward` and `@backward` compute.

    It calls `@apply`, or `@forward` where nothing is differentiated.
    """
    trained = bool(graph.of(GradientOp))
    with ir.InsertionPoint.at_block_begin(graph.joint.operation.block):
        call = func.FuncOp("call", ir.TypeAttr(graph.joint.attributes["function_type"]).value)
    set_role(call, Role.CALL)
    if "arg_attrs" in graph.joint.attributes:
        kept = ({fact.name: fact.attr for fact in each if fact.name not in _AUTOGRAD} for each in memory.facts)
        call.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in kept])
    copy_attributes(graph.joint, call, ARGUMENTS, RESULTS)
    values = dict(zip(graph.arguments, call.add_entry_block().arguments, strict=True))
    with ir.InsertionPoint(call.body.blocks[0]):
        graph.clone(graph.of(func.CallOp), values)
        detached = _detached(graph, memory) if trained else set()
        given = enumerate(arguments(call))
        passed = [DetachOp(each, each.type).detached if number in detached else each for number, each in given]
        results = func.CallOp(list(owned), "apply" if trained else "forward", passed).results
        made = [graph.nodes[index].results[0] for index in graph.of(OwnOp)] + halves.written
        values.update(zip((graph.values[value] for value in made), results, strict=True))
        graph.clone(graph.of(*_OBSERVED), values)
        graph.clone([len(graph.nodes) - 1], values)


def _detached(graph: JointGraph, memory: SavedMemory) -> set[int]:
    """Autograd must not traverse an argument to which the graph contributes no gradient."""
    traversed = {graph.numbers[graph.nodes[index].view.of] for index in graph.of(GradientOp)}
    required = (each for each in range(len(memory.facts)) if REQUIRES_GRAD in memory.facts[each])
    return {argument for argument in required if argument not in traversed}

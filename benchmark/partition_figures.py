"""What is saved for the backward of one joint graph, by our algorithms and by PyTorch's min-cut partitioner."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

import torch
from partition_models import Model, joint_graph
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.multiprocessing.reductions import StorageWeakRef
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import SAVED, STATIC
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module, argument_fact, body
from dovetail.dialects.torch_facts.ops import Kind, kind, kind_of_name
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.frontend.records import Capture
from dovetail.frontend.to_ir.importer import import_capture
from dovetail.passes.partition.partition import PartitionPass
from dovetail.passes.pipeline import compile_pipeline

BUDGETS = (0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True)
class Saved:
    """Tensors that are kept for the backward, without parameters and buffers, and how many ops it runs again."""

    nbytes: int
    count: int
    recomputed: int


@dataclass(frozen=True)
class Figures:
    """All partitions of one model's joint graph; `budgets` holds the min-cut's for each memory budget below 1."""

    model: str
    default: Saved
    min_cut: Saved
    pytorch: Saved
    budgets: dict[float, Saved]


def figures(model: Model) -> Figures:
    """Partitions the same joint graph in every way."""
    captured = joint_graph(model)
    module = import_capture(captured, make_context())
    passes = [*takewhile(lambda each: not isinstance(each, PartitionPass), compile_pipeline())]
    with module.context, ir.Location.unknown():
        for each in passes:
            each.run(module)
        text = str(module)
    budgets = {budget: ours(text, PartitionPass(memory_budget=budget)) for budget in BUDGETS}
    saved = ours(text, PartitionPass("default")), ours(text, PartitionPass()), pytorch(captured)
    return Figures(model.name, *saved, budgets)


def ours(text: str, partition: PartitionPass) -> Saved:
    """What our pass `partition` saves of a module to which the passes before it were applied."""
    module = parse_module(text, make_context())
    before = _work(Module(module).joint)
    with module.context, ir.Location.unknown():
        partition.run(module)
    kept = list(_kept(module))
    found = Module(module)
    forward, backward = _work(found.forward), _work(found.backward)
    return Saved(sum(kept), len(kept), forward + backward - before)


def _kept(module: ir.Module) -> Iterator[int]:
    """Bytes of each saved value that is no parameter's or buffer's memory."""
    call, forward = Module(module).call, Module(module).forward
    arguments = list(forward.body.blocks[0].arguments)
    returned = body(forward)[-1].operands
    for value, facts in zip(returned, forward.attributes["res_attrs"], strict=True):
        op = value.owner.opview
        is_static = isinstance(op, ReadOp) and argument_fact(call, arguments.index(op.ref), STATIC) is not None
        if SAVED in ir.DictAttr(facts) and not is_static:
            yield tensor_info(value.type).nbytes


def _work(function_op: func.FuncOp) -> int:
    """The ops that compute tensors."""
    idle = (Kind.CONSTANT, Kind.VIEW)
    return sum(op.name.startswith("torch.") and kind(op) not in idle for op in body(function_op))


def pytorch(captured: Capture) -> Saved:
    """What PyTorch's partitioner saves. Views of one memory count once, since they keep no more than that alive."""
    static = [index for index, each in enumerate(captured.inputs) if each.static]
    module = torch.fx.GraphModule({}, copy.deepcopy(captured.graph))
    outputs = module.graph.output_node().args[0]
    given = len(outputs) - sum("primals" in node.target for node in module.graph.find_nodes(op="placeholder"))
    forward, backward = min_cut_rematerialization_partition(
        module, None, num_fwd_outputs=given, static_lifetime_input_indices=static
    )
    held = forward.graph.find_nodes(op="placeholder")
    storages = {StorageWeakRef(held[index].meta["val"].untyped_storage()) for index in static}
    kept: dict[StorageWeakRef, int] = {}
    for node in forward.graph.output_node().args[0][given:]:
        storage = StorageWeakRef(node.meta["val"].untyped_storage())
        if storage not in storages:
            kept[storage] = max(kept.get(storage, 0), node.meta["val"].nbytes)
    twice = _computed(forward) & _computed(backward)
    return Saved(sum(kept.values()), len(kept), len(twice))


def _computed(part: torch.fx.GraphModule) -> set[str]:
    """The nodes that compute tensors, as `_work` counts ops."""
    targets = {node.name: node.target for node in part.graph.nodes if isinstance(node.target, torch._ops.OpOverload)}
    return {name for name, target in targets.items() if kind_of_name(str(target)) is not Kind.VIEW}

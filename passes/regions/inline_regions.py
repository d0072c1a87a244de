"""Pass `inline-regions`: regions that IREE could not compile become ATen calls."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE, NOT_IN_PLACE
from dovetail.dialects.building.inlining import inline_call
from dovetail.dialects.dovetail import DestinationOp, WriteOp
from dovetail.dialects.dovetail.ops.copy import copy
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, made_by
from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.types import is_memory
from dovetail.passes.base import Pass, named_regions
from dovetail.passes.memory.plan_memory import drop_plan
from dovetail.passes.placement.library_calls import clone_as_library_call
from dovetail.passes.regions.given_memory import take_back
from dovetail.passes.rewriting.own_memory import foreign_memory


class InlineRegionsPass(Pass, name="inline-regions", runs_at="regions"):
    """Replaces the calls of lowered `regions` (symbols joined by `+`) by their ops, each a library call with `reason`.

    What the user loses is speed, never the result; `dovetail.stats()` counts each op under its reason. With `fallback`
    off, they are library calls on purpose. The memory plan goes, since library calls allocate: `plan-memory` then makes
    a new one.

    Before:  `%d = alloc; call @region(%a, %d); %v = torch.copy.to_vtensor %d`
    After:   `%v = torch.operator "torch.aten.relu"(%a) {dovetail.fallback, dovetail.reason = "..."}`
    """

    regions: str = ""
    reason: str = "IREE did not compile the region"
    fallback: bool = True

    def run(self, module: ir.Module) -> None:
        drop_plan(Module(module))
        called = Module(module).calls()
        for name, region in named_regions(module, self.regions).items():
            taken = (value for call in called.get(name, ()) for value in call.operands)
            if any(made_by(value, DestinationOp.OPERATION_NAME) for value in taken):
                _give_up_proofs(module, self.reason)
            for call in called.get(name, ()):
                _inline(call.operation, region, self.reason, self.fallback)
            region.operation.erase()


def _give_up_proofs(module: ir.Module, reason: str) -> None:
    """What runs in a region's place may fail, which must not happen after another region wrote in place."""
    for ops in Module(module).bodies.values():
        for op in ops:
            if isinstance(op.opview, DestinationOp):
                op.attributes["proof"] = ir.StringAttr.get("none")
            if isinstance(op.opview, WriteOp) and IN_PLACE in op.attributes:
                del op.attributes[IN_PLACE]
                op.attributes[NOT_IN_PLACE] = ir.StringAttr.get(f"a region that updates in place can't be: {reason}")


def _inline(call: ir.Operation, region: func.FuncOp, reason: str, is_fallback: bool) -> None:
    taken = set(map(memory_root, call.operands))
    into = [value.owner for value in call.operands if is_memory(value)]

    def build(op: ir.Operation, values: dict[ir.Value, ir.Value]) -> None:
        if op.name == STORE:
            value = values[op.operands[0]]
            # Memory of its own, even if it is what the region was given, or stores twice.
            stored = copy(value).copied if foreign_memory(value, taken) else value
            take_back(values[op.operands[1]], stored)
        elif op.name == LOAD:
            values[op.results[0]] = read(values[op.operands[0]].owner.operation.opview.ref).value
        else:
            clone_as_library_call(op, values, reason, is_fallback)

    inline_call(call, region, build)
    for memory in into:
        memory.operation.erase()

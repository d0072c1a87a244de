"""Pass `lower-regions`: regions to the form that IREE compiles, results written to memory that the caller gives."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import LEVEL
from dovetail.dialects.building.cloning import set_signature
from dovetail.dialects.building.region_builder import call_with_new_memory
from dovetail.dialects.memory.contents import store
from dovetail.dialects.reading import COMPUTING, Module, argument_facts, of_class, referred, result_facts, terminator
from dovetail.dialects.torch_facts.types import memory_type
from dovetail.passes.base import Pass


class LowerRegionsPass(Pass, name="lower-regions", runs_at="program"):
    """Turns each region's results into `!torch.tensor` arguments that are overwritten (destination passing).

    So results live in PyTorch's allocator. docs/iree-region-abi.md says what IREE accepts.

    Before:  `%v = call @region(%a)` and `func @region(%a) -> %v { ...; return %0 }`
    After:   `%d = alloc; call @region(%a, %d); %v = torch.copy.to_vtensor %d` and
             `func @region(%a, %d) { ...; torch.overwrite.tensor.contents %0 overwrites %d; return }`
    """

    def run(self, module: ir.Module) -> None:
        found = Module(module)
        for host in found.of(*COMPUTING).values():
            for call in of_class(found.ops(host), func.CallOp):
                if found.region(call) is None:
                    continue
                with call.location, ir.InsertionPoint(call):
                    made = call_with_new_memory(referred(call, "callee"), list(call.operands), list(call.results))
                for value, held in zip(call.results, made, strict=True):
                    value.replace_all_uses_with(held)
                call.erase()
        for region in found.regions.values():
            _lower_region(region)
        module.operation.attributes[LEVEL] = ir.StringAttr.get("regions", module.context)


def _lower_region(region: func.FuncOp) -> None:
    end, block = terminator(region), region.body.blocks[0]
    facts = [*argument_facts(region), *result_facts(region)]
    for name in ("arg_attrs", "res_attrs"):
        if name in region.attributes:
            del region.attributes[name]
    with end.location, ir.InsertionPoint(end):
        for value in end.operands:
            destination = block.add_argument(memory_type(value.type), end.location)
            store(value, destination)
        func.ReturnOp([])
    end.erase()
    set_signature(region, [])
    if any(map(len, facts)):
        region.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)

"""Pass `split-region`: a region that IREE could not compile becomes two, each with half of its work."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import REGION
from dovetail.dialects.dovetail.ops.alloc import alloc
from dovetail.dialects.dovetail.ops.destination import memory_type
from dovetail.dialects.regions import regions
from dovetail.passes.base import Pass, fail
from dovetail.passes.in_place.update_regions import LOAD, STORE
from dovetail.passes.regions.halves import Part, halves
from dovetail.passes.rewriting.cloning import calls, clone


@dataclass(frozen=True)
class SplitRegionPass(Pass, name="split-region", runs_at="regions"):
    """Splits the lowered `region` in two, `@<region>_0` and `@<region>_1`, each called once where it was.

    The first part is the first half of the region's work, and what it hands to the second goes through new memory. A
    region that updates arguments in place is split by what it stores, since its second part must not read what its
    first has overwritten; what both need, both compute.

    Before:  `call @region(%a, %d)`
    After:   `%m = alloc; call @region_0(%a, %m); %v = torch.copy.to_vtensor %m; call @region_1(%v, %d)`
    """

    region: str = ""

    def run(self, module: ir.Module) -> None:
        found = regions(module)
        if self.region not in found:
            known = ", ".join(f"@{each}" for each in found) or "none"
            raise fail(module.operation, self.name, f"has no region '@{self.region}', it has {known}")
        region = found[self.region]
        parts = halves(region)
        if parts is None:
            raise fail(region, self.name, f"'@{self.region}' can't be split: it is one piece of work")
        replace_region(module, self.region, parts)


def replace_region(module: ir.Module, name: str, parts: tuple[Part, Part]) -> None:
    """Puts the two `parts` of region `name`, and calls of them, in its place."""
    region = regions(module)[name]
    for number, part in enumerate(parts):
        _make_part(region, f"{name}_{number}", part)
    for call in calls(module).get(name, ()):
        _call_parts(call, region, name, parts)
    region.operation.erase()


def _make_part(region: func.FuncOp, name: str, part: Part) -> None:
    types = [*(value.type for value in part.inputs), *(memory_type(value.type) for value in part.crossing)]
    with region.location, ir.InsertionPoint(region):
        made = func.FuncOp(name, ir.FunctionType.get(types, []), visibility="private")
        made.attributes[REGION] = ir.UnitAttr.get()
        entry = made.add_entry_block()
    values = dict(zip(part.inputs, entry.arguments, strict=False))
    with ir.InsertionPoint(entry):
        for op in part.ops:
            with op.location:
                clone(op, values)
        for value, memory in zip(part.crossing, entry.arguments[len(part.inputs) :], strict=True):
            ir.Operation.create(STORE, operands=[values[value], memory], loc=region.location)
        func.ReturnOp([], loc=region.location)


def _call_parts(call: func.CallOp, region: func.FuncOp, name: str, parts: Sequence[Part]) -> None:
    """All memory comes first: after an update in place nothing may fail."""
    values = dict(zip(region.body.blocks[0].arguments, call.operands, strict=True))
    first, second = parts
    with call.location, ir.InsertionPoint(call):
        passed = [alloc(memory_type(value.type)).memory for value in first.crossing]
        func.CallOp([], f"{name}_0", [*(values[value] for value in first.inputs), *passed])
        for value, memory in zip(first.crossing, passed, strict=True):
            values[value] = ir.Operation.create(LOAD, results=[value.type], operands=[memory]).result
        func.CallOp([], f"{name}_1", [values[value] for value in second.inputs])
    call.operation.erase()

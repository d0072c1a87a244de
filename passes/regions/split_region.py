"""Pass `split-region`: a region that IREE could not compile becomes two, each with half of its work."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.memory.contents import load
from dovetail.dialects.reading import Module
from dovetail.passes.base import Pass, fail
from dovetail.passes.regions.halves import Part, halves
from dovetail.passes.rewriting.region_builder import RegionBuilder, call_with_new_memory


@dataclass(frozen=True)
class SplitRegionPass(Pass, name="split-region", runs_at="regions"):
    """Splits the lowered `region` in two, `@<region>_0` and `@<region>_1`, each called once where it was.

    The first part is the first half of the region's work, and what it hands to the second goes through new memory. A
    region that updates arguments in place is split by what it stores, since its second part must not read what its
    first has overwritten; what both need, both compute. New values that others are computed from come first, and the
    second part reads them where they lie.

    Before:  `call @region(%a, %d)`
    After:   `%m = alloc; call @region_0(%a, %m); %v = torch.copy.to_vtensor %m; call @region_1(%v, %d)`
    """

    region: str = ""

    def run(self, module: ir.Module) -> None:
        found = Module(module).regions
        if self.region not in found:
            known = ", ".join(f"@{region}" for region in found) or "none"
            raise fail(module.operation, self.name, f"has no region '@{self.region}', it has {known}")
        region = found[self.region]
        parts = halves(region)
        if parts is None:
            raise fail(region, self.name, f"'@{self.region}' can't be split: it is one piece of work")
        replace_region(module, self.region, parts)


def replace_region(module: ir.Module, name: str, parts: tuple[Part, Part]) -> None:
    """Puts the two `parts` of region `name`, and calls of them, in its place."""
    region = Module(module).regions[name]
    for number, part in enumerate(parts):
        _make_part(region, f"{name}_{number}", part)
    for call in Module(module).calls().get(name, ()):
        _call_parts(call, region, name, parts)
    region.operation.erase()


def _make_part(region: func.FuncOp, name: str, part: Part) -> None:
    with region.location, ir.InsertionPoint(region):
        made = RegionBuilder(name, part.inputs, part.crossing)
        made.compute(part.ops)
        for value, memory in zip(part.crossing, made.memory, strict=True):
            made.store(made.values[value], memory)
        made.finish()


def _call_parts(call: func.CallOp, region: func.FuncOp, name: str, parts: Sequence[Part]) -> None:
    values = dict(zip(region.body.blocks[0].arguments, call.operands, strict=True))
    first, second = parts
    with call.location, ir.InsertionPoint(call):
        held = call_with_new_memory(f"{name}_0", [values[value] for value in first.inputs], first.crossing)
        values.update(zip(first.crossing, held, strict=True))
        values.update({value: load(values[memory]) for value, memory in first.updated})
        func.CallOp([], f"{name}_1", [values[value] for value in second.inputs])
    call.operation.erase()

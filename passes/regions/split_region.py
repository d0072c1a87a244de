"""Pass `split-region`: a region that IREE could not compile becomes two, each with half of its work."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.region_builder import RegionBuilder, call_with_new_memory
from dovetail.dialects.memory.contents import load
from dovetail.dialects.reading import Module, by_argument
from dovetail.passes.base import Pass, fail, named_regions
from dovetail.passes.regions.pieces import Piece, pieces_of


class SplitRegionPass(Pass, name="split-region", runs_at="regions"):
    """Splits the lowered `region` in two, `@<region>_0` and `@<region>_1`, each called once where it was.

    The first piece is the first half of the region's work, and what it hands to the second goes through new memory. A
    region that updates arguments in place is split by what it stores, since its second piece must not read what its
    first has overwritten; what both need, both compute. New values that others are computed from come first, and the
    second piece reads them where they lie.

    Before:  `call @region(%a, %d)`
    After:   `%m = alloc; call @region_0(%a, %m); %v = torch.copy.to_vtensor %m; call @region_1(%v, %d)`
    """

    region: str = ""

    def run(self, module: ir.Module) -> None:
        for name, region in named_regions(module, self.region).items():
            pieces = pieces_of(region)
            if pieces is None:
                raise fail(region, f"'@{name}' can't be split: it is one piece of work")
            replace_region(module, name, pieces)


def replace_region(module: ir.Module, name: str, pieces: tuple[Piece, Piece]) -> None:
    """Puts the two `pieces` of region `name`, and calls of them, in its place."""
    region = Module(module).regions[name]
    for number, piece in enumerate(pieces):
        with region.location, ir.InsertionPoint(region):
            made = RegionBuilder(f"{name}_{number}", piece.operands, piece.crossing)
            made.compute(piece.ops)
            for value, memory in zip(piece.crossing, made.memory, strict=True):
                made.store(made.values[value], memory)
            made.finish()
    for call in Module(module).calls().get(name, ()):
        _call_pieces(call, region, name, pieces)
    region.operation.erase()


def _call_pieces(call: func.CallOp, region: func.FuncOp, name: str, pieces: Sequence[Piece]) -> None:
    values = by_argument(call, region)
    first, second = pieces
    with call.location, ir.InsertionPoint(call):
        held = call_with_new_memory(f"{name}_0", [values[value] for value in first.operands], first.crossing)
        values.update(zip(first.crossing, held, strict=True))
        values.update({value: load(values[memory]) for value, memory in first.updated})
        func.CallOp([], f"{name}_1", [values[value] for value in second.operands])
    call.operation.erase()

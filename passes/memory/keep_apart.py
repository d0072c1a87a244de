"""Pass `keep-apart`: says of regions that their results do not lie where operands die."""

from torch_mlir import ir

from dovetail.dialects.attributes import KEPT_APART
from dovetail.passes.base import Pass, named_regions


class KeepApartPass(Pass, name="keep-apart", runs_at="regions"):
    """Says of `regions` (symbols joined by `+`) that no result of theirs may lie where an operand dies.

    What reads an operand while it writes there must be one loop. IREE makes one of what `plan-memory` chooses, but
    nothing says that it must: the plan is the evidence, and a region whose plan shows more, or that has none, is kept
    apart. `dovetail.stats()` counts it under `reason`.

    Before:  `func @region(...) attributes {dovetail.role = "region"}`
    After:   `func @region(...) attributes {dovetail.kept_apart = "...", dovetail.role = "region"}`
    """

    regions: str = ""
    reason: str = "no plan shows that operands are read before"

    def run(self, module: ir.Module) -> None:
        for region in named_regions(module, self.regions).values():
            region.attributes[KEPT_APART] = ir.StringAttr.get(self.reason)

"""Pass `state-updates`: says of a program that all it does is to update its arguments in place."""

from torch_mlir import ir

from dovetail.dialects.attributes import ONLY_UPDATES
from dovetail.dialects.reading import Module, drop_attributes
from dovetail.passes.base import Pass
from dovetail.passes.in_place.only_updates import only_updates


class StateUpdatesPass(Pass, name="state-updates", runs_at="regions"):
    """Says of `@call` that all it does is to update its arguments in place by regions, as an optimizer's step does.

    The runtime then looks at all arguments in one call, and runs the regions' plans one after the other.

    Before:  `func @call(...) attributes {dovetail.role = "call"}`
    After:   `func @call(...) attributes {dovetail.only_updates, dovetail.role = "call"}`
    """

    def run(self, module: ir.Module) -> bool:
        found = Module(module)
        is_stated, is_so = ONLY_UPDATES in found.call.attributes, only_updates(found)
        drop_attributes(found.call, ONLY_UPDATES)
        if is_so:
            found.call.attributes[ONLY_UPDATES] = ir.UnitAttr.get(module.context)
        return is_stated != is_so

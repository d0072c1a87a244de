"""Pass `choose-drivers`: says what runs each region without a launch plan."""

from torch_mlir import ir

from dovetail.backends.target import choose_driver
from dovetail.dialects.attributes import DRIVER
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.regions import region_bytes
from dovetail.dialects.statements.target import device_type
from dovetail.passes.base import Pass


class ChooseDriversPass(Pass, name="choose-drivers", runs_at="regions"):
    """Says of each region that does not yet which driver of IREE's runs it on a CPU: its size decides.

    Waking a pool of threads ("local-task") pays from some bytes a call; below, the calling thread does it all.

    Before:  `func @region(...) attributes {dovetail.role = "region"}`
    After:   `func @region(...) attributes {dovetail.driver = "local-sync", dovetail.role = "region"}`
    """

    def run(self, module: ir.Module) -> None:
        if device_type(module) != "cpu":
            return  # what has no plan there is no region
        moved = region_bytes(module)
        for name, region in Module(module).regions.items():
            if DRIVER not in region.attributes:
                region.attributes[DRIVER] = ir.StringAttr.get(choose_driver(moved[name]), region.context)

"""Pass `choose-variant`: says how regions are compiled and run, where that was measured."""

from torch_mlir import ir

from dovetail.backends.target import DRIVERS, VARIANTS
from dovetail.dialects.attributes import DRIVER, MEASURED, VARIANT
from dovetail.errors import OptionError
from dovetail.passes.base import Pass, named_regions


class ChooseVariantPass(Pass, name="choose-variant", runs_at="regions"):
    """Writes what tuning chose to `regions` (symbols joined by `+`), and the figures that it chose by.

    A `driver` of "plan" changes nothing: a region that has a plan is run by it.

    Before:  `func @region(...) attributes {dovetail.role = "region"}`
    After:   `func @region(...) attributes {dovetail.driver = "local-sync", dovetail.measured = "...",
             dovetail.role = "region", dovetail.variant = "default"}`
    """

    regions: str = ""
    variant: str = ""
    driver: str = ""
    measured: str = ""

    def __post_init__(self):
        for option, value, valid in (("variant", self.variant, VARIANTS), ("driver", self.driver, DRIVERS)):
            if value and value not in valid:
                listed = ", ".join(f"'{word}'" for word in valid)
                raise OptionError(f"pass 'choose-variant': option '{option}' expects one of {listed}, got '{value}'")

    def run(self, module: ir.Module) -> None:
        driver = "" if self.driver == "plan" else self.driver
        for region in named_regions(module, self.regions).values():
            for key, value in ((VARIANT, self.variant), (DRIVER, driver), (MEASURED, self.measured)):
                if value:
                    region.attributes[key] = ir.StringAttr.get(value)

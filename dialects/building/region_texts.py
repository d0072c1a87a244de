"""A module's regions as IREE wants them: texts of their own."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import KEPT_APART, PINNED, ROLE, SIZES
from dovetail.dialects.building.kept_choices import keep_choices
from dovetail.dialects.building.kept_numbers import keep_numbers
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import Module, body, drop_attributes
from dovetail.dialects.sizes.bound_sizes import Range, bind_sizes, symbol_ranges
from dovetail.dialects.statements.devices import CPU
from dovetail.dialects.statements.regions import CHOICE


def region_texts(module: ir.Module) -> dict[str, str]:
    """Each lowered region as a module of its own whose one function is `@main`; equal regions have equal texts.

    docs/iree-region-abi.md describes the form.
    """
    ranges = symbol_ranges(module)
    return {name: _text(region, ranges) for name, region in Module(module).regions.items()}


def _text(region: func.FuncOp, ranges: Mapping[int, Range]) -> str:
    with region.operation.context, ir.Location.unknown():
        module = ir.Module.create()
        main = region.operation.clone(ip=ir.InsertionPoint(module.body))
        for op in body(main.opview):
            drop_attributes(op, PINNED, SIZES)
            if op.name == "torch.constant.device":
                # All of a region is on one device, and IREE's input takes ops for none but the CPU.
                op.attributes["value"] = ir.StringAttr.get(CPU)
        make_main(main.opview)
        keep_choices(main.opview)
        keep_numbers(main.opview)
        bind_sizes(region, main.opview, ranges)
    return str(module)


def make_main(region: func.FuncOp) -> None:
    """Has `region` stand as the one function of its module, with nothing that only others in the module read."""
    region.attributes["sym_name"] = ir.StringAttr.get("main")
    drop_attributes(region, "sym_visibility", "arg_attrs", ROLE, KEPT_APART, *CHOICE)


def named_region_text(text: str, name: str) -> str:
    """A region's text with `name` in place of `@main`, which stands in it first where the function is declared."""
    return text.replace("@main(", f"@{name}(", 1)


def merge_region_texts(texts: list[str]) -> str:
    """One module with the functions of many region texts, whose names must differ."""
    with make_context(), ir.Location.unknown():
        merged = ir.Module.create()
        for text in texts:
            parsed = ir.Module.parse(text)  # in a variable, since its ops don't keep it alive
            parsed.body.operations[0].operation.clone(ip=ir.InsertionPoint(merged.body))
        return str(merged)

"""A module's regions as IREE wants them: texts of their own, and what a call of each moves."""

from collections.abc import Collection, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DRIVER, MEASURED, PINNED, ROLE, SIZES, VARIANT
from dovetail.dialects.bound_sizes import Range, bind_sizes, symbol_ranges
from dovetail.dialects.context import make_context
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.kept_choices import keep_choices
from dovetail.dialects.kept_numbers import keep_numbers
from dovetail.dialects.reading import Module, attribute, body, drop_attributes
from dovetail.dialects.torch_facts.expected import expected_bytes
from dovetail.dialects.torch_facts.types import is_memory
from dovetail.errors import ModuleError

CHOICE = (VARIANT, DRIVER, MEASURED)
"""On a region: how it is compiled, if not as by default, what runs it, and the figures that tuning chose by."""


def choice(region: func.FuncOp, name: str, otherwise: str | None = None, valid: Collection[str] | None = None) -> str:
    """What `region` says under `name`, one of `CHOICE`.

    Raises:
        ModuleError: if that is none of the words that are `valid`, where they are given, with the location; if it says
            nothing, and there is no `otherwise`.
    """
    if name not in region.attributes and otherwise is not None:
        return otherwise
    stated = attribute(region, name)
    if not isinstance(stated, ir.StringAttr) or (valid is not None and stated.value not in valid):
        expected = ", ".join(valid or ["a string"])
        raise ModuleError(f"{region.location}: expects '{name}' to be {expected}, got {stated or 'none'}")
    return stated.value


def driver_of(region: func.FuncOp, drivers: Collection[str]) -> str:
    """Which of `drivers`, those of IREE's runtime for a device, runs `region` without a plan; "" where there are none.

    Raises:
        ModuleError: if it says none of them.
    """
    return choice(region, DRIVER, None if drivers else "", drivers)


def is_copy(op: ir.Operation) -> bool:
    """Whether `op` is a `dovetail.copy`, or the `clone` that stands for one in a region."""
    return op.name in (CopyOp.OPERATION_NAME, "torch.aten.clone")


def region_texts(module: ir.Module) -> dict[str, str]:
    """Each lowered region as a module of its own whose one function is `@main`; equal regions have equal texts.

    docs/iree-region-abi.md describes the form.
    """
    ranges = symbol_ranges(module)
    return {name: _text(region, ranges) for name, region in Module(module).regions.items()}


def region_bytes(module: ir.Module) -> dict[str, int]:
    """Bytes that one call of each region reads and writes, each argument once; where sizes are open, as expected."""
    return {name: expected_bytes(region.arguments) for name, region in Module(module).regions.items()}


def _text(region: func.FuncOp, ranges: Mapping[int, Range]) -> str:
    with region.operation.context, ir.Location.unknown():
        module = ir.Module.create()
        main = region.operation.clone(ip=ir.InsertionPoint(module.body))
        for op in body(main.opview):
            drop_attributes(op, PINNED, SIZES)
        make_main(main.opview)
        keep_choices(main.opview)
        keep_numbers(main.opview)
        bind_sizes(region, main.opview, ranges)
    return str(module)


def make_main(region: func.FuncOp) -> None:
    """Has `region` stand as the one function of its module, with nothing that only others in the module read."""
    region.attributes["sym_name"] = ir.StringAttr.get("main")
    drop_attributes(region, "sym_visibility", "arg_attrs", ROLE, *CHOICE)


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


def destinations(region: func.FuncOp) -> tuple[bool, ...]:
    """Whether each argument of a lowered region is memory that it writes."""
    return tuple(map(is_memory, region.arguments))

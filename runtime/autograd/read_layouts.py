"""Reads `@layouts` from the IR: a callable, and what it takes."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch_mlir import ir

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.attributes import SIZES, STRIDES, SYMBOL, TANGENT_OF
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Facts, Module, argument_facts, arguments
from dovetail.dialects.sizes.size_expressions import Numbered, function_of
from dovetail.dialects.statements.devices import ref_device
from dovetail.dialects.statements.layouts import layouts_of
from dovetail.dialects.torch_facts.kernel_layouts import KernelLayouts
from dovetail.dialects.torch_facts.sizes import OpenSize
from dovetail.errors import ModuleError
from dovetail.runtime.autograd.layouts import Laid, LayoutArgument, Layouts, Number


def read_layouts(module: Module) -> Layouts | None:
    """What tells how operands in the module's backward lie, None where no tangent counts."""
    found = layouts_of(module)
    if found is None:
        return None
    told = Emitter(found, {}).emit().load()

    def run(arguments: list) -> Sequence[torch.Tensor]:
        with KernelLayouts():
            return told(arguments)

    return Layouts(run, tuple(map(_argument, arguments(found), argument_facts(found))))


def _argument(value: ir.Value, facts: Facts) -> LayoutArgument | Number:
    if SYMBOL in facts:
        return Number(ir.IntegerAttr(facts[SYMBOL]).value)
    type_ = RefType(value.type)
    is_tangent = TANGENT_OF in facts
    of = ir.IntegerAttr(facts[TANGENT_OF]).value if is_tangent else lying(type_, facts)
    return LayoutArgument(of, getattr(torch, type_.shaped.dtype), ref_device(type_, value.owner.owner.parent))


def lying(type_: RefType, facts: Facts) -> Callable[[Mapping[int, int]], Laid]:
    """The sizes and strides of a ref by the values of the symbols, without MLIR."""
    shape, strides = (
        [_number(each, facts[name].value.results[dim] if name in facts else None) for dim, each in enumerate(known)]
        for name, known in ((SIZES, type_.shaped.shape), (STRIDES, type_.strides))
    )
    return lambda symbols: (tuple(size(symbols) for size in shape), tuple(stride(symbols) for stride in strides))


def _number(known: OpenSize, stated: ir.AffineExpr | None) -> Numbered:
    if known is not None:
        return lambda _: known
    if stated is None:
        raise ModuleError(f"expects '{SIZES}' and '{STRIDES}' of open arguments that no tangent tells")
    return function_of(stated)

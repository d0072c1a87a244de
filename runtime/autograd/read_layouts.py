"""Reads `@layouts` from the IR: a callable, and what it takes."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.attributes import SIZES, STRIDES, SYMBOL, TANGENT_OF
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Facts, Module, argument_facts, symbol
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

    return Layouts(run, tuple(_argument(found, number, facts) for number, facts in enumerate(argument_facts(found))))


def _argument(layouts: func.FuncOp, number: int, facts: Facts) -> LayoutArgument | Number:
    if SYMBOL in facts:
        return Number(ir.IntegerAttr(facts[SYMBOL]).value)
    type_ = RefType(layouts.type.inputs[number])
    is_tangent = TANGENT_OF in facts
    of = ir.IntegerAttr(facts[TANGENT_OF]).value if is_tangent else lying(layouts, number, facts)
    return LayoutArgument(of, getattr(torch, type_.shaped.dtype), ref_device(type_, layouts.operation.parent))


def lying(function_op: func.FuncOp, number: int, facts: Facts) -> Callable[[Mapping[int, int]], Laid]:
    """The sizes and strides of argument `number`, a ref, by the values of the symbols, without MLIR.

    Raises:
        ModuleError: if its `facts` do not tell one that is open.
    """
    type_ = RefType(function_op.type.inputs[number])
    for name, known in ((SIZES, type_.shaped.shape), (STRIDES, type_.strides)):
        if None in known and name not in facts:
            where = f"{function_op.location}: argument {number} of '@{symbol(function_op)}', {type_}"
            raise ModuleError(f"{where}: expects '{name}' to tell what is open")
    shape, strides = (
        [_number(each, facts[name].value.results[dim] if name in facts else None) for dim, each in enumerate(known)]
        for name, known in ((SIZES, type_.shaped.shape), (STRIDES, type_.strides))
    )
    return lambda symbols: (tuple(size(symbols) for size in shape), tuple(stride(symbols) for stride in strides))


def _number(known: OpenSize, stated: ir.AffineExpr | None) -> Numbered:
    return function_of(stated) if known is None else lambda _: known

"""Reads `@layouts` from the IR: a callable, and what it takes."""

from collections.abc import Sequence

import torch
from torch_mlir import ir

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.attributes import TANGENT_OF
from dovetail.dialects.devices import ref_device
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.layouts import layouts_of
from dovetail.dialects.reading import Facts, Module, argument_facts
from dovetail.dialects.torch_facts.kernel_layouts import KernelLayouts
from dovetail.dialects.torch_facts.sizes import static
from dovetail.runtime.autograd.layouts import Argument, Layouts


def read_layouts(module: Module) -> Layouts | None:
    """What tells how operands in the module's backward lie, None where no tangent counts."""
    found = layouts_of(module)
    if found is None:
        return None
    pairs = zip(map(RefType, found.type.inputs), argument_facts(found), strict=True)
    told = Emitter(found, {}).emit().load()

    def run(arguments: list) -> Sequence[torch.Tensor]:
        with KernelLayouts():
            return told(arguments)

    return Layouts(run, tuple(_argument(*each, ref_device(each[0], found.operation.parent)) for each in pairs))


def _argument(type_: RefType, facts: Facts, device: str) -> Argument:
    number = ir.IntegerAttr(facts[TANGENT_OF]).value if TANGENT_OF in facts else None
    return Argument(type_.info.shape, static(type_.strides), getattr(torch, type_.info.dtype), number, device)

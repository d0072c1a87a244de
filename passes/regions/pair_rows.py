"""Pass `pair-rows`: regions whose rows are computed and summed in one loop only if it goes by two."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from dovetail.backends.target import is_summed_by_twos
from dovetail.dialects.attributes import VARIANT
from dovetail.dialects.reading import Module, body
from dovetail.dialects.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import reorders
from dovetail.dialects.torch_facts.types import TensorInfo, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.sums import reduced_dims

_BY_TWOS = "rows-by-twos"
_OF_ROWS = (Kind.POINTWISE, Kind.VIEW, Kind.REDUCTION)


@dataclass(frozen=True)
class PairRowsPass(Pass, name="pair-rows", runs_at="regions"):
    """States the variant `rows-by-twos` of regions for a CPU that have such rows and no other loops.

    A softmax computes the exponential of an element once if its loop sums the rows, too, as IREE makes good code of
    if its pieces have an even number of rows. The variant's have two; other loops would be cut too small by it.

    Before:  `func @region(...) attributes {dovetail.role = "region"} { ...; %e = exp %x; %s = sum %e, [-1]; ... }`
    After:   `func @region(...) attributes {dovetail.role = "region", dovetail.variant = "rows-by-twos"} { ... }`
    """

    def run(self, module: ir.Module) -> None:
        if device_type(module) != "cpu":
            return
        for region in Module(module).regions.values():
            ops = list(body(region))
            paired = [op for op in ops if is_summed_by_twos(op)]
            if VARIANT not in region.attributes and paired and _has_only_rows_of(paired[0], ops):
                region.attributes[VARIANT] = ir.StringAttr.get(_BY_TWOS, region.context)


def _has_only_rows_of(paired: ir.Operation, ops: Sequence[ir.Operation]) -> bool:
    """Whether what `ops` compute are the elements of as large rows as those of `paired`, or a number a row."""
    info = tensor_info(paired.results[0].type)
    return info is not None and all(_goes_by_rows(op, info.shape) for op in ops)


def _goes_by_rows(op: ir.Operation, shape: Sizes) -> bool:
    infos: list[TensorInfo] = [info for value in op.results if (info := tensor_info(value.type)) is not None]
    if not infos or not op.name.startswith("torch.aten."):
        return True
    if kind(op) not in _OF_ROWS or reorders(op):
        return False
    taken = tensor_info(op.operands[0].type)
    if kind(op) is Kind.REDUCTION and (reduced_dims(op) != [len(shape) - 1] or taken is None or taken.shape != shape):
        return False
    return all(info.shape == shape or info.numel <= prod(shape[:-1]) for info in infos)

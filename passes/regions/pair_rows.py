"""Pass `pair-rows`: regions whose rows are computed and summed in one loop only if it goes by two."""

from math import prod

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.target import is_summed_by_twos
from dovetail.dialects.attributes import VARIANT
from dovetail.dialects.reading import Module, body
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import reorders
from dovetail.dialects.torch_facts.types import TensorInfo, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.sums import reduced_dims

_OF_ROWS = (Kind.POINTWISE, Kind.VIEW, Kind.REDUCTION)


class PairRowsPass(Pass, name="pair-rows", runs_at="regions"):
    """States the variant `rows-by-twos` of regions for a CPU that have such rows and no other loops.

    A softmax computes the exponential of an element once if its loop sums the rows, too, as IREE makes good code of
    if its pieces have an even number of rows. The variant's have two; other loops would be cut too small by it.

    Before:  `func @region(...) attributes {dovetail.role = "region"} { ...; %e = exp %x; %s = sum %e, [-1]; ... }`
    After:   `func @region(...) attributes {dovetail.role = "region", dovetail.variant = "rows-by-twos"} { ... }`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cpu":
            return False
        regions = [
            each for each in Module(module).regions.values() if VARIANT not in each.attributes and _is_paired(each)
        ]
        for region in regions:
            region.attributes[VARIANT] = ir.StringAttr.get("rows-by-twos", region.context)
        return bool(regions)


def _is_paired(region: func.FuncOp) -> bool:
    ops = body(region)
    paired = next(filter(is_summed_by_twos, ops), None)
    info = None if paired is None else tensor_info(paired.results[0].type)
    return info is not None and all(_goes_by_rows(op, info.shape) for op in ops)


def _goes_by_rows(op: ir.Operation, shape: Sizes) -> bool:
    """Whether what `op` computes are the elements of rows of `shape`, or a number a row."""
    infos: list[TensorInfo] = [info for value in op.results if (info := tensor_info(value.type)) is not None]
    if not infos or not op.name.startswith("torch.aten."):
        return True
    if kind(op) not in _OF_ROWS or reorders(op):
        return False
    taken = tensor_info(op.operands[0].type)
    if kind(op) is Kind.REDUCTION and (reduced_dims(op) != [len(shape) - 1] or taken is None or taken.shape != shape):
        return False
    return all(info.shape == shape or info.numel <= prod(shape[:-1]) for info in infos)

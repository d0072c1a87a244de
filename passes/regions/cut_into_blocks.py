"""Pass `cut-into-blocks`: regions whose loops reach tensors across their rows."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.attributes import VARIANT
from dovetail.dialects.reading import Module, body, operand_ops, users
from dovetail.dialects.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.transposition import is_transposition, reordered
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info
from dovetail.passes.base import Pass


@dataclass(frozen=True)
class CutIntoBlocksPass(Pass, name="cut-into-blocks", runs_at="regions"):
    """States the variant `by-blocks` of regions for a CPU that compute elements alone, some of transposed tensors.

    Their loops read and write blocks, so that what is transposed needs no memory. Other ops IREE may merge with a
    transposition into loops that have no such blocks.

    Before:  `func @region(...) attributes {dovetail.role = "region"} { ...; %t = permute %x; %s = add %t, %y; ... }`
    After:   `func @region(...) attributes {dovetail.role = "region", dovetail.variant = "by-blocks"} { ... }`
    """

    def run(self, module: ir.Module) -> None:
        if device_type(module) != "cpu":
            return
        for region in Module(module).regions.values():
            if VARIANT not in region.attributes and _goes_by_blocks(list(body(region))):
                region.attributes[VARIANT] = ir.StringAttr.get("by-blocks", region.context)


def _goes_by_blocks(ops: Sequence[ir.Operation]) -> bool:
    groups = [_group(op) for op in ops if is_transposition(op)]
    merged = [group for group in groups if len(group) > 1]
    return bool(merged) and all(_has_blocks(group) for group in merged)


def _group(op: ir.Operation) -> list[ir.Operation]:
    """`op`, and what in its region computes one of its operands or uses its results, and so on."""
    group, todo = [], [op]
    while todo:
        found = todo.pop()
        if found.name.startswith("torch.aten.") and found not in group:
            group.append(found)
            todo += (*operand_ops(found), *users(*found.results))
    return group


def _has_blocks(group: Sequence[ir.Operation]) -> bool:
    """Whether `group` computes elements, and turns tensors in one way; none is larger than those, nor of open sizes."""
    turning = [op for op in group if is_transposition(op)]
    infos = [tensor_info(op.results[0].type) for op in group]
    sizes = {info.numel for info in infos if info is not None}
    return (
        None not in infos
        and max(sizes) == require_tensor_info(turning[0].results[0].type).numel
        and len({reordered(op) for op in turning}) == 1
        and {kind(op) for op in group if op not in turning} == {Kind.POINTWISE}
    )

"""Counts for `dovetail.stats()`, read from the final IR of a program."""

from collections.abc import Iterator

from torch.utils.flop_counter import flop_registry
from torch_mlir import ir

from dovetail.backends.python.aten import overload
from dovetail.dialects.calls import FALLBACK, is_extern, is_region, reason
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.regions import regions
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.runtime.stats import Stats


def account(module: ir.Module, stats: Stats) -> None:
    """Adds what the program in `module` (level `regions`) consists of to `stats`."""
    stats.graphs += 1
    stats.regions += len(regions(module))
    for function_op in module.body.operations:
        for op in _operations(function_op):
            placement = _placement(op, is_region(function_op))
            if placement is None:
                continue
            stats.ops[placement] += 1
            stats.flops[placement] += _flops(op)
            if is_extern(op):
                stats.library_calls[(control_flow_name(op) or aten_name(op), reason(op))] += 1
    stats.saved_bytes += _saved_bytes(module)


def _operations(function_op: ir.OpView) -> Iterator[ir.Operation]:
    for block in function_op.operation.regions[0].blocks:
        for op in block.operations:
            yield op.operation


def _placement(op: ir.Operation, in_region: bool) -> str | None:
    """Where a torch op runs; None for what is no work of its own (constants, calls, reads)."""
    if is_extern(op):
        return "fallback" if reason(op).startswith(FALLBACK) else "library"
    if aten_name(op) is None:
        return None
    if kind(op) is Kind.VIEW:
        return "view"
    return "region" if in_region else None


def _flops(op: ir.Operation) -> int:
    """PyTorch's own formulas where it has one, else one for each element of the result (or, reducing, of the input)."""
    name = aten_name(op)
    infos = [tensor_info(value.type) for value in op.operands]
    results = [tensor_info(value.type) for value in op.results]
    if name is None or kind(op) is Kind.VIEW:
        return 0
    packet = overload(name).overloadpacket
    shapes = [info.shape if info else None for info in infos]
    if packet in flop_registry and is_extern(op):
        return _formula(packet, op, shapes, [info.shape for info in results if info])
    sizes = [info.numel for info in [*results, *(infos if kind(op) is Kind.REDUCTION else [])] if info]
    return max(sizes, default=0)


def _formula(packet, op: ir.Operation, shapes: list, results: list) -> int:
    """Contractions by their shapes; for other library kernels the matrices they multiply are not in the operands."""
    tensors = [shape for shape in shapes if shape is not None]
    if packet._qualified_op_name in ("aten::mm", "aten::bmm"):
        left, right = tensors[:2]
    elif packet._qualified_op_name in ("aten::addmm", "aten::baddbmm"):
        left, right = tensors[1:3]
    elif packet._qualified_op_name == "aten::convolution":
        out, weight = results[0], tensors[1]
        return 2 * _product(out) * _product(weight[1:])
    elif packet._qualified_op_name == "aten::convolution_backward":
        grad, weight = tensors[0], tensors[2]
        return 4 * _product(grad) * _product(weight[1:])
    else:
        query, key = tensors[0], tensors[1]
        return 4 * _product(query) * key[-2]
    return 2 * _product(left) * right[-1]


def _product(shape: tuple[int, ...]) -> int:
    result = 1
    for size in shape:
        result *= size
    return result


def _saved_bytes(module: ir.Module) -> int:
    """Bytes of the saved values that the program itself keeps; parameters live on anyway."""
    total = 0
    for function_op in module.body.operations:
        if "res_attrs" not in function_op.attributes:
            continue
        for type_, attributes in zip(function_op.type.results, function_op.attributes["res_attrs"], strict=True):
            info = tensor_info(type_)
            attribute = ir.DictAttr(attributes)
            if info and "dovetail.saved" in attribute and ir.StringAttr(attribute["dovetail.saved"]).value == "private":
                total += info.nbytes
    return total

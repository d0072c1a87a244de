"""Widening the functions of branches: more results, more arguments."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import is_extern
from dovetail.dialects.torch_types import require_tensor_info
from dovetail.passes.rewriting import body, constant_none, set_signature

# PyTorch's numbers of element types, as its ops take them.
_DTYPES = dict(
    zip(
        "uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool".split(),
        range(12),
        strict=True,
    )
) | {"bfloat16": 15}


def return_too(branch: func.FuncOp, values: Sequence[ir.Value | None], types: Sequence[ir.Type]) -> None:
    """Makes `branch` return `values` besides; zeros of `types` in place of each None."""
    end = body(branch)[-1]
    with end.location, ir.InsertionPoint(end):
        more = [_zeros(type_) if value is None else value for value, type_ in zip(values, types, strict=True)]
        results = [*end.operands, *more]
        func.ReturnOp(results)
    end.erase()
    set_signature(branch, [value.type for value in results])


def take_too(branch: func.FuncOp, values: Sequence[ir.Value | None], types: Sequence[ir.Type]) -> None:
    """Gives `branch` arguments of `types` besides, in place of its `values`, and drops what nothing uses any more."""
    block = branch.body.blocks[0]
    for value, type_ in zip(values, types, strict=True):
        argument = block.add_argument(type_, branch.location)
        if value is not None:
            value.replace_all_uses_with(argument)
    *ops, end = body(branch)
    set_signature(branch, [value.type for value in end.operands])
    for op in reversed(ops):
        if not is_extern(op) and not any(True for result in op.results for _ in result.uses):
            op.erase()


def _zeros(type_: ir.Type) -> ir.Value:
    info = require_tensor_info(type_)
    sizes = [_integer(size) for size in info.shape]
    integers = ir.Type.parse("!torch.list<int>")
    shape = ir.Operation.create("torch.prim.ListConstruct", results=[integers], operands=sizes).result
    none = constant_none()
    operands = [shape, _integer(_DTYPES[info.dtype]), none, none, none]
    return ir.Operation.create("torch.aten.zeros", results=[type_], operands=operands).result


def _integer(value: int) -> ir.Value:
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    integer = ir.Type.parse("!torch.int")
    return ir.Operation.create("torch.constant.int", results=[integer], attributes={"value": attribute}).result

"""What the final IR says of a graph's results: whose memory each shows, and how it is regenerated."""

from dataclasses import replace

from torch_mlir import ir

from dovetail.dialects.dovetail import DetachOp, OwnOp, RefType
from dovetail.dialects.memory.roots import memory_path, memory_root
from dovetail.dialects.reading import returned
from dovetail.dialects.statements.regions import is_copy
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import is_torch_type
from dovetail.explanation.inputs import tensor_type
from dovetail.explanation.records import Output
from dovetail.explanation.value_origins import Origins

_END = 2**63 - 1  # what PyTorch passes for the end of an open slice


def outputs(origins: Origins, names: list[str]) -> tuple[Output, ...]:
    """One record for each result of `@call`; `names` are the inputs'."""
    handed_out = returned(origins.module.call)
    return tuple(_output(handed_out, index, origins, names) for index in range(len(handed_out)))


def memory_of(value: ir.Value, origins: Origins, names: list[str]) -> str:
    """Of a value: "input x" if it lies in an argument's memory, else ""."""
    number = origins.argument(value)
    return "" if number is None else f"input {names[number]}"


def copy_of(value: ir.Value, origins: Origins, names: list[str]) -> str:
    """Whose copy `value` of `@forward` is, "" if it is computed otherwise."""
    op = origins.producer(value)
    if op is None or not is_copy(op):
        return ""
    return memory_of(op.operands[0], origins, names) or "a value that is used elsewhere too"


def _output(handed_out: list[ir.Value], index: int, origins: Origins, names: list[str]) -> Output:
    value = handed_out[index]
    views = tuple(_step(op.opview) for op in memory_path(value))[::-1]
    root, first = memory_root(value), handed_out.index(value)
    base = Output("fresh", "", views, tensor_type(value.type), None, "", "")
    if not isinstance(value.type, RefType):
        return replace(base, origin="constant", of=_constant(value))
    if isinstance(root.owner, ir.Block):
        return replace(base, origin="input", of=names[ir.BlockArgument(root).arg_number])
    if first < index:
        return replace(base, origin="result", of=str(first), views=())
    # Memory that the call makes: through views, the result that shows it as it is may come later.
    handed = origins.handed_over(root)
    own = handed.owner.opview
    assert isinstance(own, OwnOp), f"{handed}: @forward hands out owned memory only"
    base = replace(base, differentiable=own.is_differentiable, line=origins.line(handed))
    if views and root in handed_out:
        return replace(base, origin="result", of=str(handed_out.index(root)))
    base = replace(base, copied=copy_of(own.value, origins, names) or _laid_out(own))
    return replace(base, origin="hidden", of=str(ir.OpResult(root).result_number)) if views else base


def _laid_out(own: OwnOp) -> str:
    """Why a result is copied that is no copy, "" if it is not."""
    is_region = own.value.owner.operation.name == LOAD
    is_row_major = own.ref.type.is_row_major
    return "" if is_row_major or not is_region else "the region's row-major result, for eager's strides"


def _step(op: ir.OpView) -> str:
    if isinstance(op, DetachOp):
        return "detach()"
    name = op.callee_name.removeprefix("aten.").removesuffix(".default")
    part = f"[{op.output_index}]" if op.output_index >= 0 else ""
    mode = {None: "", True: " with gradients recorded", False: " under no_grad"}[op.sets_grad_mode]
    return f"{name}({', '.join(_argument(argument) for argument in ir.ArrayAttr(op.args))}){part}{mode}"


def _argument(attribute: ir.Attribute) -> str:
    match attribute:
        case ir.ArrayAttr():
            return f"[{', '.join(_argument(argument) for argument in attribute)}]"
        case ir.IntegerAttr() if attribute.value == _END:
            return "end"
        case ir.BoolAttr() | ir.IntegerAttr() | ir.FloatAttr() | ir.StringAttr():
            return str(attribute.value)
    return "None"


def _constant(value: ir.Value) -> str:
    if isinstance(value.owner, ir.Block) or "value" not in value.owner.operation.attributes:
        return "None" if is_torch_type(value.type, "none") else "for given sizes and data"
    return _argument(value.owner.operation.attributes["value"])

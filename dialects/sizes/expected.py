"""What a tensor is expected to look like whose sizes are known only when the program runs: by which work is priced.

Nothing else may hang on it: sizes are expected to be those of the call that was traced.
"""

from collections.abc import Iterable

from torch_mlir import ir

from dovetail.dialects.attributes import HINTS
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.sizes.size_expressions import evaluated
from dovetail.dialects.sizes.symbols import sizes_of
from dovetail.dialects.torch_facts.types import ShapedInfo, TensorInfo, shaped_info, tensor_info

GUESS = 32
"""Of a size of which nothing is known."""


def expected_info(value: ir.Value) -> TensorInfo | None:
    """Like `tensor_info` of the type, with each open size as it is expected to be; None for what is no tensor."""
    type_ = value.type
    info, shaped = tensor_info(type_), shaped_info(type_)
    if info is not None or shaped is None:
        return info
    return _as_expected(value, shaped)


def expected_ref_bytes(ref: ir.Value) -> int:
    """Of the elements of what `ref`, a `!dovetail.ref`, shows; 0 of what is no ref."""
    return _as_expected(ref, ref.type.shaped).nbytes if isinstance(ref.type, RefType) else 0


def expected_infos(values: Iterable[ir.Value]) -> list[TensorInfo]:
    """Of the tensors among `values`."""
    return [info for value in values if (info := expected_info(value)) is not None]


def expected_bytes(values: Iterable[ir.Value]) -> int:
    """Of the elements of the tensors among `values`."""
    return sum(info.nbytes for info in expected_infos(values))


def _as_expected(value: ir.Value, shaped: ShapedInfo) -> TensorInfo:
    expected = _expected(value)
    sizes = shaped.shape if expected is None else expected
    return TensorInfo(tuple(GUESS if size is None else size for size in sizes), shaped.dtype, shaped.itemsize)


def _expected(value: ir.Value) -> list[int] | None:
    """The sizes by what is known of them and by the module's hints, None where that is nothing."""
    owner, stated = value.owner, sizes_of(value)
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    module = block.owner.operation.parent
    if stated is None or module is None or HINTS not in module.attributes:
        return None
    known = dict(enumerate(ir.DenseI64ArrayAttr(module.attributes[HINTS])))
    try:
        sizes = [evaluated(size, known) for size in stated]
    except (KeyError, ZeroDivisionError):  # of a stranger's module
        return None
    return sizes if all(size >= 0 for size in sizes) else None

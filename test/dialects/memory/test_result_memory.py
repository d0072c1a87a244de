"""Rows say where results lie as PyTorch's CPU kernels do."""

import pytest
import torch

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.memory.result_memory import result_memory
from dovetail.dialects.torch_facts.row import ResultMemory
from dovetail.dialects.torch_facts.rows import OPS


def matrix(*sizes: int, is_transposed: bool = False) -> torch.Tensor:
    made = torch.rand(sizes)
    return made.transpose(-1, -2).contiguous().transpose(-1, -2) if is_transposed else made


ARGUMENTS = {
    "addmm": lambda t: (matrix(6), matrix(4, 5, is_transposed=t), matrix(5, 6, is_transposed=t)),
    "addmv": lambda t: (matrix(4), matrix(4, 5, is_transposed=t), matrix(5)),
    "baddbmm": lambda t: (matrix(2, 4, 6), matrix(2, 4, 5, is_transposed=t), matrix(2, 5, 6, is_transposed=t)),
    "bmm": lambda t: (matrix(2, 4, 5, is_transposed=t), matrix(2, 5, 6, is_transposed=t)),
    "convolution": lambda t: (
        matrix(2, 3, 8, 8, is_transposed=t),
        matrix(4, 3, 3, 3, is_transposed=t),
        matrix(4),
        [1, 1],
        [1, 1],
        [1, 1],
        False,
        [0, 0],
        1,
    ),
    "dot": lambda t: (matrix(5), matrix(5)),
    "embedding": lambda t: (matrix(7, 4, is_transposed=t), torch.tensor([[1, 2], [0, 6]])),
    "gather": lambda t: (matrix(4, 5, is_transposed=t), 1, torch.tensor([[0, 1], [2, 3]])),
    "index": lambda t: (matrix(4, 5, is_transposed=t), [None, torch.tensor([1, 0, 1])]),
    "mm": lambda t: (matrix(4, 5, is_transposed=t), matrix(5, 6, is_transposed=t)),
    "mv": lambda t: (matrix(4, 5, is_transposed=t), matrix(5)),
    "vdot": lambda t: (matrix(5), matrix(5)),
}


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("row", [row for row in OPS if row.memory is ResultMemory.EXACT], ids=lambda row: row.name)
def test_kernels_allocate_just_their_result(row, is_transposed):
    """Catches a kernel whose result is a part of more memory, or an operand's: the plan gives all of it away."""
    arguments = ARGUMENTS[row.name](is_transposed)
    overload = getattr(torch.ops.aten, row.name)
    result = getattr(overload, "Tensor" if "Tensor" in overload.overloads() else "default")(*arguments)
    assert result.untyped_storage().nbytes() == result.nbytes
    assert result.storage_offset() == 0
    taken = {argument.untyped_storage()._cdata for argument in arguments if isinstance(argument, torch.Tensor)}
    assert result.untyped_storage()._cdata not in taken
    assert not row.is_row_major or result.is_contiguous()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aten.transpose.int", ResultMemory.OPERAND),
        ("aten.view", ResultMemory.BY_STRIDES),
        ("aten.contiguous", ResultMemory.BY_STRIDES),
        ("aten.view.dtype", ResultMemory.OPERAND),
        ("aten.view_as_real", ResultMemory.OPERAND),
        ("aten.mm", ResultMemory.EXACT),
        ("aten.sort", ResultMemory.OWN),
        ("aten.dropout", ResultMemory.UNKNOWN),
        ("mine.mm", ResultMemory.UNKNOWN),
        ("dovetail.cond", ResultMemory.OWN),
    ],
)
def test_table(name, expected):
    """Catches an op that returns its argument and is taken for one that does not, a custom op for ATen's."""
    text = f'func.func @f(%x: !torch.vtensor<[4],f32>) {{\n  %0 = torch.operator "torch.{name}"(%x) : '
    text += "(!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>\n  return\n}"
    module = parse_module(text, make_context())
    op = module.body.operations[0].body.blocks[0].operations[0].operation
    assert result_memory(op) is expected

"""What is known of the memory of a function's values."""

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.memory.buffers import Buffers

SPLIT = """
func.func @f(%x: !torch.vtensor<[6,6],f32>) -> !torch.vtensor<[6,2],f32> {
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %0 = torch.aten.mm %x, %x : !torch.vtensor<[6,6],f32>, !torch.vtensor<[6,6],f32> -> !torch.vtensor<[6,6],f32>
  %1 = torch.aten.split.Tensor %0, %two, %one
    : !torch.vtensor<[6,6],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %2:3 = torch.prim.ListUnpack %1
    : !torch.list<vtensor> -> !torch.vtensor<[6,2],f32>, !torch.vtensor<[6,2],f32>, !torch.vtensor<[6,2],f32>
  return %2#0 : !torch.vtensor<[6,2],f32>
}
"""


def test_joined_of_a_split_have_the_strides_of_the_whole():
    """Would catch strides that are lost on the way through a list: a view of a part is then taken for a copy."""
    module = parse_module(SPLIT, make_context())
    buffers = Buffers(module.body.operations[0])
    whole, part = (op.results[0] for op in buffers.ops if op.name in ("torch.aten.mm", "torch.prim.ListUnpack"))
    assert buffers.strides[whole] == (6, 1)
    assert buffers.strides[part] == (6, 1)
    assert buffers.by_value[part] is buffers.by_value[whole]

"""What an explanation says of CUDA graphs."""

from torch_mlir import ir

from dovetail.dialects.context import make_context
from dovetail.explanation.program import read_program
from dovetail.explanation.text import text
from dovetail.options import Options

MODULE = """
#at = loc("user.py":7:0)
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r {dovetail.name = "x"}) attributes {dovetail.role = "call"} {
    call @forward(%x) : (!r) -> ()
    return
  }
  func.func @forward(%x: !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.mine.op"(%0) {dovetail.not_recordable = "it may do anything"} : (!v) -> !v loc(#at)
    return
  }
}
"""


def test_ops_of_the_host_are_told():
    """Would catch `mode="reduce-overhead"` without a graph, and no word of the op at fault."""
    with make_context():
        program = read_program(ir.Module.parse(MODULE))
    assert program.host_ops == ("it may do anything at user.py:7",)
    assert "no CUDA graph can stand for it: it may do anything at user.py:7" in text((program,), Options())

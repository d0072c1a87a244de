"""Whose memory a value lies in: `memory_root` and `Buffers` say the same of each op, unless memory is taken over."""

import pytest
from torch_mlir.dialects import ext

from dovetail.dialects import dovetail
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.memory.buffers import Buffers
from dovetail.dialects.memory.result_memory import result_memory
from dovetail.dialects.memory.roots import may_show_old, memory_root
from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.row import ResultMemory

VIEW = 'args = [], callee = "aten.t.default", index = -1 : i64'
OPS = {
    "dovetail.read": '"dovetail.read"(%x) : (!r) -> !v',
    "dovetail.view": f'"dovetail.view"(%x) {{{VIEW}}} : (!r) -> !r',
    "dovetail.detach": '"dovetail.detach"(%x) : (!r) -> !r',
    "dovetail.alloc": '"dovetail.alloc"() : () -> !m',
    "dovetail.destination": '"dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m',
    "dovetail.own": '"dovetail.own"(%v) {requires_grad = false} : (!v) -> !r',
    "dovetail.copy": '"dovetail.copy"(%v) : (!v) -> !v',
    "dovetail.part": '"dovetail.part"(%m) {dim = 0 : i64, start = 0 : i64} : (!m) -> !torch.tensor<[2],f32>',
    "dovetail.reuse": '"dovetail.reuse"(%m) : (!m) -> !m',
    "dovetail.tangent": '"dovetail.tangent"(%o) : (!r) -> !r',
    "torch.copy.to_vtensor": "torch.copy.to_vtensor %m : !v",
    "torch.aten.contiguous": "torch.aten.contiguous %v, %int0 : !v, !torch.int -> !v",
    "torch.aten.exp": "torch.aten.exp %v : !v -> !v",
    "torch.mine": 'torch.operator "torch.mine.custom"(%v) : (!v) -> !v',
    "func.call": "func.call @g(%v) : (!v) -> !v",
}
"""Of each op whose result a host function finds in memory, one."""

ELSEWHERE = {"constant", "dispatch", "number", "pow", "quotient", "size", "sqrt", "subspan", "transient"}
"""Ops that make numbers, or that plans or regions have."""

HOST = """
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func private @g(!v) -> !v
func.func @f(%x: !r, %v: !v, %m: !m) {{
  %int0 = torch.constant.int 0
  %o = "dovetail.own"(%v) {{requires_grad = true}} : (!v) -> !r
  %made = {op}
  return
}}
"""


@pytest.mark.parametrize("name", OPS)
def test_root_and_buffer_agree(name: str):
    """Catches an op whose result one of the two takes for memory of its own, and the other for its operand's."""
    module = parse_module(HOST.format(op=OPS[name]), make_context())
    function_op = module.body.operations[1]
    op = body(function_op)[-2]
    [made], memory, buffers = op.results, result_memory(op), Buffers(function_op)
    buffer, is_root = buffers.by_value[made], memory_root(made) == made
    if memory in (ResultMemory.OWN, ResultMemory.EXACT):
        assert (is_root, buffer.may_be) == (True, {buffer})
        return
    given = op.operands[0]
    assert is_root == (memory in (ResultMemory.TAKEN_OVER, ResultMemory.UNKNOWN))
    assert is_root or memory_root(made) == memory_root(given)
    # What dies as it is reused is nobody's any more.
    assert (buffers.by_value[given] in buffer.may_be) == (name != "dovetail.reuse")


def test_each_op_is_asked():
    """Catches an op of ours that is added without saying where its result lies."""
    made = {each.OPERATION_NAME for each in vars(dovetail).values() if isinstance(each, type) and has_result(each)}
    assert {name for name in OPS if name.startswith("dovetail.")} == made - {f"dovetail.{name}" for name in ELSEWHERE}


def has_result(op: type) -> bool:
    return issubclass(op, ext.Operation) and any("Result" in str(each) for each in op.__annotations__.values())


def test_destination_holds_no_old_value():
    """Catches a use of the new value that is taken for one of the old: no update in place would pass its verifier."""
    module = parse_module(HOST.format(op=OPS["dovetail.destination"]), make_context())
    function_op = module.body.operations[1]
    assert may_show_old(body(function_op)[-2].results[0]) == set()
    assert may_show_old(function_op.arguments[0]) == {function_op.arguments[0]}

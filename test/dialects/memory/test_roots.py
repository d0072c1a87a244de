"""Whose memory a value lies in, op by op."""

import pytest
import torch
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.memory.roots import may_show_old, memory_path, memory_root, memory_roots
from dovetail.dialects.reading import Module, arguments, body
from dovetail.runtime.program import load_plain_program

TYPES = """
!v = !torch.vtensor<[4],f32>
!c = !torch.vtensor<[2],complex<f32>>
!h = !torch.vtensor<[4],f16>
!r = !dovetail.ref<!v, strided<[1]>>
"""

OURS = """
  %1 = "dovetail.detach"(%x) : (!r) -> !r
  %2 = "dovetail.view"(%1) {args = [[4]], callee = "aten.view.default", index = -1 : i64} : (!r) -> !r
  %3 = "dovetail.read"(%2) : (!r) -> !v
"""


def last(text: str) -> tuple[ir.Module, ir.Value, ir.Value]:
    """A module, the argument `%x` of its function, and what the function's last op computes."""
    module = parse_module(f"{TYPES}func.func @f(%x: !r, %w: !v) {{{text}\n  return\n}}", make_context())
    function_op = Module(module).functions["f"]
    return module, arguments(function_op)[0], body(function_op)[-2].results[0]


def test_ops_of_ours_lie_in_their_operand():
    """Catches a root that stops at a read, a view or a detach: two results would share memory unseen."""
    _module, argument, value = last(OURS)
    assert memory_root(value) == argument
    assert [op.name for op in memory_path(value)] == ["dovetail.read", "dovetail.view", "dovetail.detach"]


@pytest.mark.parametrize(
    ("name", "result", "is_shared"),
    [
        ("aten.alias", "!v", True),
        ("aten.contiguous", "!v", True),
        ("aten.to.dtype", "!v", True),
        ("aten.to.dtype", "!h", False),
        ("aten.view_as_complex", "!c", True),
        ("aten._conj", "!v", True),
        ("aten.clone", "!v", False),
        ("aten.exp", "!v", False),
        ("aten.mv", "!v", False),
        ("mine.custom", "!v", False),
        ("dovetail.cond", "!v", False),
    ],
)
def test_library_calls(name: str, result: str, is_shared: bool):
    """Catches a call that may return its operand and is taken for one that does not, or a conversion taken for it."""
    module, argument, value = last(f'{OURS}  %4 = torch.operator "torch.{name}"(%3) : (!v) -> {result}')
    assert memory_root(value) == (argument if is_shared else value)
    assert memory_roots(Module(module).bodies["f"]).get(value, value) == memory_root(value)


@pytest.mark.parametrize(
    ("name", "is_shared"), [("aten.view", True), ("mine.custom", True), ("aten.exp", False), ("dovetail.cond", False)]
)
def test_what_may_share(name: str, is_shared: bool):
    """Catches a custom op whose result is taken for fresh memory, or a kernel whose result is not."""
    _module, argument, value = last(f'{OURS}  %4 = torch.operator "torch.{name}"(%w, %3) : (!v, !v) -> !v')
    assert may_show_old(value) == ({argument} if is_shared else set())


PROGRAM = f"""{TYPES}
module attributes {{dovetail.level = "split"}} {{
  func.func @call(%x: !r) -> !r attributes {{dovetail.role = "call"}} {{
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }}
  func.func @forward(%x: !r) -> !r attributes {{dovetail.role = "forward"}} {{
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %int0 = torch.constant.int 0
    %1 = torch.aten.contiguous %0, %int0 : !v, !torch.int -> !v
    %o = "dovetail.own"(%1) {{requires_grad = false}} : (!v) -> !r
    return %o : !r
  }}
}}
"""


def test_owned_result_of_contiguous():
    """`contiguous` gave the argument itself where it lies in rows, and it was handed out as memory of its own."""
    call, _ = load_plain_program(parse_module(PROGRAM, make_context()), {})
    given = torch.arange(4.0)
    (made,) = call([given])
    assert made.data_ptr() != given.data_ptr()
    assert torch.equal(made, given)

"""Memory that the program allocates, as Python says it."""

import pytest
import torch

from dovetail.backends.python import memory
from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.sizes.products import products, row_major_products

TEXT = """
func.func @f() -> !torch.vtensor<[4],f32> {
  %%d = "dovetail.alloc"() {%s} : () -> !torch.tensor<[4],f32>
  %%0 = torch.copy.to_vtensor %%d : !torch.vtensor<[4],f32>
  return %%0 : !torch.vtensor<[4],f32>
}
"""


@pytest.mark.parametrize("attributes", ["", 'device = "meta:0"'])
def test_memory_is_made_where_the_ir_says(attributes: str):
    """Catches memory that is made on torch's default device though the IR names another."""
    module = parse_module(TEXT % attributes, make_context())
    source = Emitter(module.body.operations[0], {}).emit()
    (made,) = source.load()([])
    assert (made.device.type, made.shape, made.dtype) == ("meta" if attributes else "cpu", (4,), torch.float32)


def test_memory_of_a_gpu_that_is_not_the_threads(monkeypatch: pytest.MonkeyPatch):
    """Catches memory on the thread's GPU though the IR names another: the short way takes no device."""
    made = []
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch._C, "_cuda_getDevice", lambda: 1, raising=False)
    monkeypatch.setattr(torch._C._dynamo.guards, "_empty_strided_cuda", lambda *how: made.append("here"), raising=False)
    monkeypatch.setattr(torch, "empty_strided", lambda *_, device, **how: made.append(str(device)))
    for device in ("cuda:0", "cuda:1"):
        memory.allocator.__wrapped__(device)()((4,), (1,), torch.float32)
    assert made == ["cuda:0", "here"]


REUSED = """
module attributes {dovetail.device = "meta:0"} {
  func.func @forward() -> !torch.tensor<[2,2],f32> attributes {dovetail.role = "forward"} {
    %a = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
    %b = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
    %c = "dovetail.reuse"(%a) : (!torch.tensor<[4],f32>) -> !torch.tensor<[4],f32>
    %d = "dovetail.reuse"(%b) : (!torch.tensor<[4],f32>) -> !torch.tensor<[2,2],f32>
    return %d : !torch.tensor<[2,2],f32>
  }
}
"""


def test_dead_memory_of_a_gpu():
    """Catches memory that the allocator is asked for before the dead tensor is gone, a question for each tensor of
    which GPU is the thread's, and memory of the same type that is made anew."""
    module = parse_module(REUSED, make_context())
    source = Emitter(module.body.operations[0], {}).emit()
    lines = [line.split("(")[0].strip() for line in source.text.splitlines()[2:]]
    a, b, c, d = (f"v{number}" for number in range(4))
    asked = "allocator_now = allocator"
    made = [f"{a} = allocator_now", f"{b} = allocator_now", f"{c} = {a}", f"del {a}, {b}", f"{d} = allocator_now"]
    assert lines[:-1] == [asked, *made]
    (result,) = source.load()([])
    assert (result.device.type, result.shape) == ("meta", (2, 2))


OPEN = """
!v = !torch.vtensor<[?,2,?],f32>
!r = !dovetail.ref<!v, strided<[?, ?, 1]>>
func.func @forward(%%n: !torch.int {dovetail.range = array<i64: %s, 9>, dovetail.symbol = 0 : i64}) -> !r
    attributes {dovetail.role = "forward"} {
  %%2 = torch.constant.int 2
  %%twice = torch.aten.mul.int %%n, %%2 : !torch.int, !torch.int -> !torch.int
  %%d = "dovetail.alloc"(%%twice, %%n) : (!torch.int, !torch.int) -> !torch.tensor<[?,2,?],f32>
  %%0 = torch.copy.to_vtensor %%d : !v
  %%o = "dovetail.own"(%%0, %s) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !r
  return %%o : !r
}
"""


@pytest.mark.parametrize(
    ("least", "strides", "is_plain"),
    [(1, "%twice, %n", True), (0, "%twice, %n", False), (1, "%n, %n", False)],
)
def test_strides_that_are_surely_those_of_rows(least: int, strides: str, is_plain: bool):
    """Catches strides that are computed and compared at each call, or are taken for others: by order, or of nothing."""
    module = parse_module(OPEN % (least, strides), make_context())
    source = Emitter(module.body.operations[0], {}).emit()
    assert ("allocate_rows" not in source.text and "with_strides" not in source.text) == is_plain
    (made,) = source.load()([3])
    assert made.size() == (6, 2, 3)
    assert made.stride() == ((6, 3, 1) if strides == "%twice, %n" else (3, 3, 1))


def test_a_step_of_0_is_none_of_rows():
    """Catches a result that all of a dimension shares, taken for one that lies row by row."""
    assert products((4, 1), ()) == row_major_products((0, 4), ())
    assert products((1, 0), ()) != row_major_products((3, 1), ())

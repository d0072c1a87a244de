"""Rows that lie in the result until their sums are there: of which kernels."""

from dovetail.backends.worker.blocks import cut_into_blocks

KERNEL = """
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
#c = affine_map<(i, j) -> (j)>
!whole = tensor<?x?xf32>
!into = !iree_tensor_ext.dispatch.tensor<writeonly:!whole>
module {
  func.func @kernel(%x: !whole, %m: index, %n: index, %into: !into, %rows: tensor<?xf64>, %empty: !whole,
      %factors: tensor<?xf32>) {
    %zero = arith.constant 0.0 : f64
    %0 = linalg.fill ins(%zero : f64) outs(%rows : tensor<?xf64>) -> tensor<?xf64>
    %1:2 = linalg.generic {indexing_maps = [#m, #m, #r], iterator_types = ["parallel", "reduction"]}
        ins(%x : !whole) outs(%empty, %0 : !whole, tensor<?xf64>) {
    ^bb0(%a: f32, %b: f32, %c: f64):
      %e = math.exp %a : f32
      %w = arith.extf %e : f32 to f64
      %s = arith.addf %w, %c : f64
      linalg.yield %e, %s : f32, f64
    } -> (!whole, tensor<?xf64>)
    %2 = linalg.generic {indexing_maps = [#m, #r, #m], iterator_types = ["parallel", "parallel"]}
        ins(READ, %1#1 : !whole, tensor<?xf64>) outs(%empty : !whole) {
    ^bb0(%a: f32, %b: f64, %c: f32):
      %t = arith.truncf %b : f64 to f32
      %s = arith.divf %a, %t : f32
      linalg.yield %s : f32
    } -> !whole
    MORE
    iree_tensor_ext.dispatch.tensor.store %2, %into, offsets = [0, 0], sizes = [%m, %n], strides = [1, 1]
      : !whole -> !iree_tensor_ext.dispatch.tensor<writeonly:!whole>{%m, %n}
    return
  }
}
"""
SECOND_READER = """
    %3 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel"]}
        ins(%1#0 : !whole) outs(%empty : !whole) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
    } -> !whole"""


def stores(read: str = "%1#0", more: str = "") -> list[str]:
    """The lines that store something in the kernel as it is edited."""
    text = KERNEL.replace("READ", read).replace("MORE", more)
    return [line for line in cut_into_blocks(text.encode()).decode().splitlines() if "tensor.store" in line]


def test_rows_lie_in_the_result():
    """Catches rows that are kept on the stack, or stored where something takes them after they are overwritten."""
    rows, quotients = stores()
    assert "#0, %" in rows
    assert "#0" not in quotients
    assert len(stores(more=SECOND_READER)) == 1
    assert len(stores(read="%x")) == 1

# RUN: %python %s | FileCheck %s
"""Catches a gather without a check of its positions, or that reads elsewhere where the check is left out; and positions
that are taken from what the rest of a region computes, so that IREE cuts there."""

from dovetail.backends.elementary.checked_gathers import bound
from dovetail.backends.elementary.widened import with_wide_functions

TEXT = """
!x = !torch.vtensor<[4,8],bf16>
!i = !torch.vtensor<[4,1],si64>
!r = !torch.vtensor<[4,1],bf16>
func.func @main(%x: !x, %i: !i) -> (!r, !r, !i) {
  %one = torch.constant.int 1
  %false = torch.constant.bool false
  %most = torch.constant.int 5
  %safe = torch.aten.clamp %i, %one, %most : !i, !torch.int, !torch.int -> !i
  %0 = torch.aten.gather %x, %one, %safe, %false : !x, !torch.int, !i, !torch.bool -> !r
  %1 = torch.aten.gather %x, %one, %i, %false : !x, !torch.int, !i, !torch.bool -> !r
  return %0, %1, %safe : !r, !r, !i
}
"""

# CHECK-LABEL: func.func @main(
# CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[4,8],bf16>, %[[I:.*]]: !torch.vtensor<[4,1],si64>)
# CHECK:         %[[SAFE:.*]] = torch.aten.clamp %[[I]],
# CHECK:         %[[TAKEN:.*]] = "torch_c.to_builtin_tensor"(%[[I]])
# CHECK:         %[[FENCED:.*]] = "iree_tensor_ext.compute_barrier.end"(%[[TAKEN]])
# CHECK:         %[[OWN:.*]] = "torch_c.from_builtin_tensor"(%[[FENCED]])
# CHECK:         %[[AT:.*]] = torch.aten.clamp %[[OWN]],
# CHECK:         %[[ROWS:.*]] = "torch_c.to_builtin_tensor"(%[[X]])
# CHECK:         %[[PLACES:.*]] = "torch_c.to_builtin_tensor"(%[[AT]])
# CHECK:         %[[GATHERED:.*]] = linalg.generic {{.*}} ins(%[[PLACES]] : tensor<4x1xi64>)
# CHECK:           %[[PLACE:.*]] = arith.sitofp %{{.*}} : i64 to f64
# CHECK:           %[[BOUND:.*]] = arith.constant {{.*}} : f64
# CHECK:           %[[CHECKED:.*]] = arith.remf %[[PLACE]], %[[BOUND]] : f64
# CHECK:           %[[NUMBER:.*]] = arith.fptosi %[[CHECKED]] : f64 to i64
# CHECK:           %[[LAST:.*]] = arith.constant 7 : i64
# CHECK:           %[[WITHIN:.*]] = arith.minui %[[NUMBER]], %[[LAST]] : i64
# CHECK:           %[[COLUMN:.*]] = arith.index_cast %[[WITHIN]] : i64 to index
# CHECK:           %[[ROW:.*]] = linalg.index 0 : index
# CHECK:           tensor.extract %[[ROWS]][%[[ROW]], %[[COLUMN]]]
# CHECK:         "torch_c.from_builtin_tensor"(%[[GATHERED]])
# CHECK:         "iree_tensor_ext.compute_barrier.end"
# CHECK:         "torch_c.to_builtin_tensor"(%[[I]])
# CHECK:         arith.remf
# CHECK:         return %{{.*}}, %{{.*}}, %[[SAFE]]
print(with_wide_functions(TEXT))

# CHECK: 0x1.0{{0*}}8p+1000
# CHECK: 0x1.0000{{0*}}7d00p+1000
print(bound(8).hex(), bound(32000).hex(), sep="\n")

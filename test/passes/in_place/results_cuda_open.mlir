// RUN: dovetail-opt %s --stop-after=regions | FileCheck %s
//
// Catches a result of open sizes made by the region that updates an argument, which 'verify-level' refuses: it need not be
// one loop there. The graph was fixed to the sizes of one call.

!v = !torch.vtensor<[?,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
#n = affine_map<()[s0] -> (s0, 4)>
// CHECK: call @forward_region_0(
// CHECK: "dovetail.destination"
// CHECK: call @forward_update_0(
// CHECK-LABEL: func.func private @forward_update_0(
// CHECK: torch.overwrite.tensor.contents
// CHECK-NOT: torch.overwrite.tensor.contents
// CHECK: return
module attributes {dovetail.hints = array<i64: 6>, dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 0 : i64},
                   %x: !r {dovetail.name = "x", dovetail.sizes = #n}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#n]} : (!r) -> !v
    %two = torch.constant.int 2
    %one = torch.constant.int 1
    %1 = torch.aten.mul.Scalar %0, %two {dovetail.sizes = [#n]} : !v, !torch.int -> !v
    %2 = torch.aten.add.Scalar %1, %one, %one {dovetail.sizes = [#n]} : !v, !torch.int, !torch.int -> !v
    "dovetail.write"(%1, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %3 = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %3 : !r
  }
}

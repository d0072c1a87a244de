// RUN: dovetail-opt %s --pass-pipeline='partition' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
//
// Catches a question about decisions that follows numbers of the forward alone: here a stride, of which the backward
// knows one factor.

!v = !torch.vtensor<[?,?],f32>
!r = !dovetail.ref<!v, strided<[?, ?]>>
!o = !dovetail.ref<!v, strided<[?, 1]>>
#sizes = affine_map<()[s0, s1] -> (s0, s1)>

module attributes {dovetail.hints = array<i64: 4, 3, 2>, dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: torch.aten.floor
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.floor
  // CHECK: func.func private @apply
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 0 : i64},
                   %m: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 1 : i64},
                   %s: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 2 : i64},
                   %x: !r {dovetail.requires_grad, dovetail.sizes = #sizes,
                           dovetail.strides = affine_map<()[s0, s1, s2] -> (s2, s0 * s2)>})
      -> (!r, !o) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#sizes]} : (!r) -> !v
    %stride = torch.aten.mul.int %n, %s : !torch.int, !torch.int -> !torch.int
    %1 = torch.aten.exp %0 {dovetail.recompute = "prefer_recompute", dovetail.sizes = [#sizes]} : !v -> !v
    %2 = torch.aten.floor %1 {dovetail.recompute = "prefer_recompute", dovetail.sizes = [#sizes]} : !v -> !v
    %3 = torch.aten.mul.Tensor %0, %2 {dovetail.sizes = [#sizes]} : !v, !v -> !v
    %o = "dovetail.own"(%1, %s, %stride) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !r
    %p = "dovetail.own"(%3, %m) {requires_grad = true} : (!v, !torch.int) -> !o
    %t = "dovetail.tangent"(%p) {dovetail.sizes = [#sizes]} : (!o) -> !o
    %4 = "dovetail.read"(%t) {dovetail.sizes = [#sizes]} : (!o) -> !v
    %5 = torch.aten.mul.Tensor %4, %2 {dovetail.sizes = [#sizes]} : !v, !v -> !v
    "dovetail.gradient"(%5, %x) : (!v, !r) -> ()
    return %o, %p : !r, !o
  }
}

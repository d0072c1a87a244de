// RUN: dovetail-opt %s --pass-pipeline='partition,verify-comparisons' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition{algorithm=default},verify-comparisons' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
//
// Catches a partition that takes an open number, or arithmetic of one, for a constant where both sides decide by it: it
// failed for want of the op that makes the number, and each size had a graph of its own.

!v = !torch.vtensor<[?,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
#sizes = affine_map<()[s0] -> (s0, 4)>

module attributes {dovetail.hints = array<i64: 3>, dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK-COUNT-2: torch.aten.floor
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.mul.int
  // CHECK-NOT: torch.aten.floor
  // CHECK: func.func private @apply
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.requires_grad, dovetail.sizes = #sizes}) -> !r attributes {dovetail.role = "joint"} {
    %two = torch.constant.int 2
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#sizes]} : (!r) -> !v
    %1 = torch.aten.div.Scalar %0, %n {dovetail.recompute = "prefer_recompute", dovetail.sizes = [#sizes]} : !v, !torch.int -> !v
    %2 = torch.aten.exp %1 {dovetail.recompute = "prefer_recompute", dovetail.sizes = [#sizes]} : !v -> !v
    %3 = torch.aten.floor %2 {dovetail.recompute = "prefer_recompute", dovetail.sizes = [#sizes]} : !v -> !v
    %4 = torch.aten.mul.Tensor %0, %3 {dovetail.recompute = "prefer_recompute", dovetail.sizes = [#sizes]} : !v, !v -> !v
    %o = "dovetail.own"(%4) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) {dovetail.sizes = [#sizes]} : (!r) -> !r
    %5 = "dovetail.read"(%t) {dovetail.sizes = [#sizes]} : (!r) -> !v
    %6 = torch.aten.div.Scalar %0, %n {dovetail.sizes = [#sizes]} : !v, !torch.int -> !v
    %7 = torch.aten.exp %6 {dovetail.sizes = [#sizes]} : !v -> !v
    %8 = torch.aten.floor %7 {dovetail.sizes = [#sizes]} : !v -> !v
    %9 = torch.aten.mul.Tensor %5, %8 {dovetail.sizes = [#sizes]} : !v, !v -> !v
    %m = torch.aten.mul.int %n, %two : !torch.int, !torch.int -> !torch.int
    %10 = torch.aten.mul.Scalar %9, %m {dovetail.sizes = [#sizes]} : !v, !torch.int -> !v
    "dovetail.gradient"(%10, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

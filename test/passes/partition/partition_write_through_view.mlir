// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check | FileCheck %s
//
// Catches a saved value that looks safe because the write goes to a view of its memory: the backward would see the new
// value of %x, not the one that the forward used.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}} {dovetail.saved = "private"})
  // CHECK: %[[OLD:.*]] = "dovetail.read"(%[[X]])
  // CHECK: %[[COPY:.*]] = "dovetail.copy"(%[[OLD]])
  // CHECK: return {{.*}}, %[[COPY]] :
  func.func @joint(%x: !r, %w: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %a = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r
    "dovetail.write"(%2, %a) {mode = "no_grad"} : (!v, !r) -> ()
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %7 = torch.aten.mul.Tensor %5, %0 : !v, !v -> !v
    "dovetail.gradient"(%7, %w) : (!v, !r) -> ()
    return %o : !r
  }
}

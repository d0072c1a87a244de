// RUN: dovetail-opt %s --pass-pipeline='partition' | FileCheck %s
//
// Catches a version check that is lost at the split, or numbered by a result that there is none of; and the loss of which
// results' gradients flow to an argument, of what their backward frees, and of what a result shows itself as a view of.

// CHECK-LABEL: func.func @call(
// CHECK-NOT: dovetail.{{watched|reread|reached}}
// CHECK: return
// CHECK-LABEL: func.func @forward(
// CHECK: "dovetail.own"({{.*}}) {dovetail.watched = array<i64: 0>, requires_grad = true}
// CHECK: "dovetail.own"({{.*}}) {dovetail.base = array<i64: 2, 2>, dovetail.frees = array<i64>, dovetail.reread = array<i64: 0>, requires_grad = true}
// CHECK: func.func private @apply(!{{.*}} {dovetail.reached = array<i64: 0>, dovetail.reread = array<i64: 1>, dovetail.watched = array<i64: 0>}, !{{.*}})
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r {dovetail.reached = array<i64: 0>, dovetail.requires_grad, dovetail.reread = array<i64: 1>, dovetail.watched = array<i64: 0>}, %b: !r) -> (!r, !r) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %2 = torch.aten.neg %0 : !v -> !v
    "dovetail.write"(%1, %b) {mode = "no_grad"} : (!v, !r) -> ()
    %o = "dovetail.own"(%1) {requires_grad = true, dovetail.watched = array<i64: 0>} : (!v) -> !r
    %p = "dovetail.own"(%2) {requires_grad = true, dovetail.base = array<i64: 2, 2>, dovetail.frees = array<i64>, dovetail.reread = array<i64: 0>} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %4 = torch.aten.mul.Tensor %3, %1 : !v, !v -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o, %p : !r, !r
  }
}

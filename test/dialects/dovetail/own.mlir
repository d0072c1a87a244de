// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches an `own` that is merged with an equal one (the user would get one tensor twice), or removed when unused (a
// tangent, or the order of results, may hang on it), or that loses `requires_grad = false` (which is falsy in Python).

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[V:.*]]: !torch.vtensor<[4],f32>)
// CHECK-NEXT: %{{.*}} = "dovetail.own"(%[[V]]) {requires_grad = true} : (!torch.vtensor<[4],f32>) -> !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
// CHECK-NEXT: %{{.*}} = "dovetail.own"(%[[V]]) {requires_grad = false}
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.own"
// EFFECTS: return
func.func @round_trip(%v: !v) {
  %0 = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !r
  %1 = "dovetail.own"(%v) {requires_grad = false} : (!v) -> !r
  return
}

// EFFECTS-LABEL: func.func @never_merged(
// EFFECTS: %[[A:.*]] = "dovetail.own"
// EFFECTS: %[[B:.*]] = "dovetail.own"
// EFFECTS: return %[[A]], %[[B]]
func.func @never_merged(%v: !v) -> (!r, !r) {
  %0 = "dovetail.own"(%v) {requires_grad = false} : (!v) -> !r
  %1 = "dovetail.own"(%v) {requires_grad = false} : (!v) -> !r
  return %0, %1 : !r, !r
}

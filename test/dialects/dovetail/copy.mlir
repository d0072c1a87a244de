// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies,merge-equal-values' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a copy that is merged with an equal one, or forwarded as a `clone` is: two results of the user's would be in
// one memory, or one in that of an argument.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[V:.*]]: !torch.vtensor<[4],f32>)
// CHECK-NEXT: %[[A:.*]] = "dovetail.copy"(%[[V]]) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-SAME: %[[V:.*]]: !torch.vtensor<[4],f32>)
// EFFECTS-NEXT: %[[A:.*]] = "dovetail.copy"(%[[V]])
// EFFECTS-NEXT: %[[B:.*]] = "dovetail.copy"(%[[V]])
// EFFECTS-NEXT: return %[[A]], %[[B]]
func.func @round_trip(%v: !v) -> (!v, !v) {
  %0 = "dovetail.copy"(%v) : (!v) -> !v
  %1 = "dovetail.copy"(%v) : (!v) -> !v
  return %0, %1 : !v, !v
}

// EFFECTS-LABEL: func.func @handed_out(
// EFFECTS-SAME: %[[V:.*]]: !torch.vtensor<[4],f32>)
// EFFECTS-NEXT: "dovetail.own"(%[[V]])
// EFFECTS-NEXT: %[[C:.*]] = "dovetail.copy"(%[[V]])
// EFFECTS-NEXT: "dovetail.own"(%[[C]])
func.func @handed_out(%v: !v) -> (!r, !r) {
  %o = "dovetail.own"(%v) {requires_grad = false} : (!v) -> !r
  %0 = "dovetail.copy"(%v) : (!v) -> !v
  %p = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
  return %o, %p : !r, !r
}

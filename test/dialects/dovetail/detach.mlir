// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `detach` that is merged with an equal one: eager makes two objects, and `is` tells.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: !dovetail.ref
// CHECK-NEXT: %[[A:.*]] = "dovetail.detach"(%[[X]]) : (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS: %[[A:.*]] = "dovetail.detach"
// EFFECTS: %[[B:.*]] = "dovetail.detach"
// EFFECTS: return %[[A]], %[[B]]
func.func @round_trip(%x: !r) -> (!r, !r) {
  %0 = "dovetail.detach"(%x) : (!r) -> !r
  %1 = "dovetail.detach"(%x) : (!r) -> !r
  return %0, %1 : !r, !r
}

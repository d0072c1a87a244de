// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `gradient` that is removed, having no result, or tied to another argument in a round trip.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[V:.*]]: !torch.vtensor<[4],f32>, %{{.*}}: !dovetail.ref<{{.*}}>, %[[W:.*]]: !dovetail.ref<{{.*}}>)
// CHECK-NEXT: "dovetail.gradient"(%[[V]], %[[W]]) : (!torch.vtensor<[4],f32>, !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> ()
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS: "dovetail.gradient"
func.func @round_trip(%v: !v, %x: !r, %w: !r) {
  "dovetail.gradient"(%v, %w) : (!v, !r) -> ()
  return
}

// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `touch` that is dropped because nobody uses it, or merged with an equal one: each moves the user's version
// counter.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: !dovetail.ref
// CHECK-NEXT: "dovetail.touch"(%[[X]]) {versions = 1 : i64} : (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> ()
// CHECK-NEXT: "dovetail.touch"(%[[X]]) {versions = 3 : i64}
func.func @round_trip(%x: !r) {
  "dovetail.touch"(%x) {versions = 1 : i64} : (!r) -> ()
  "dovetail.touch"(%x) {versions = 3 : i64} : (!r) -> ()
  return
}

// EFFECTS-LABEL: func.func @never_merged(
// EFFECTS-COUNT-2: "dovetail.touch"
// EFFECTS: return
func.func @never_merged(%x: !r) {
  "dovetail.touch"(%x) {versions = 1 : i64} : (!r) -> ()
  "dovetail.touch"(%x) {versions = 1 : i64} : (!r) -> ()
  return
}

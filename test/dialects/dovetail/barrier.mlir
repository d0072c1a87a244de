// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a barrier that is dropped, since nothing uses it: launches would overlap.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: "dovetail.barrier"() : () -> ()
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.barrier"
// EFFECTS: return
func.func @round_trip(%a: !dovetail.buffer, %b: !dovetail.buffer) {
  "dovetail.barrier"() : () -> ()
  "dovetail.barrier"() : () -> ()
  return
}

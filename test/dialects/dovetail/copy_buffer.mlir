// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a copy that is dropped, or printed with source and target exchanged.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: "dovetail.copy_buffer"(%{{.*}}, %{{.*}}) : (!dovetail.buffer, !dovetail.buffer) -> ()
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.copy_buffer"
// EFFECTS: return
func.func @round_trip(%a: !dovetail.buffer, %b: !dovetail.buffer) {
  "dovetail.copy_buffer"(%a, %b) : (!dovetail.buffer, !dovetail.buffer) -> ()
  "dovetail.copy_buffer"(%a, %b) : (!dovetail.buffer, !dovetail.buffer) -> ()
  return
}

// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a fill that is dropped, and a pattern that loses its width.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: "dovetail.fill_buffer"(%{{.*}}) {pattern = -1 : i16} : (!dovetail.buffer) -> ()
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.fill_buffer"
// EFFECTS: return
func.func @round_trip(%a: !dovetail.buffer, %b: !dovetail.buffer) {
  "dovetail.fill_buffer"(%a) {pattern = -1 : i16} : (!dovetail.buffer) -> ()
  "dovetail.fill_buffer"(%a) {pattern = -1 : i16} : (!dovetail.buffer) -> ()
  return
}

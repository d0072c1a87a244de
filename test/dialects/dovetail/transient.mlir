// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `transient` that is merged with an equal one: two intermediate results would share their memory.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: %{{.*}} = "dovetail.transient"() {bytes = 64 : i64} : () -> !dovetail.buffer
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS: %[[A:.*]] = "dovetail.transient"
// EFFECTS: %[[B:.*]] = "dovetail.transient"
// EFFECTS: return %[[A]], %[[B]]
func.func @round_trip() -> (!dovetail.buffer, !dovetail.buffer) {
  %0 = "dovetail.transient"() {bytes = 64 : i64} : () -> !dovetail.buffer
  %1 = "dovetail.transient"() {bytes = 64 : i64} : () -> !dovetail.buffer
  return %0, %1 : !dovetail.buffer, !dovetail.buffer
}

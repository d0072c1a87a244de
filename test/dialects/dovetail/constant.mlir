// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s
//
// Catches bytes that change on the way through text or passes, and a constant that is dropped or merged unlike what
// docs/dialect.md says.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: %{{.*}} = "dovetail.constant"() {data = "0000803f"} : () -> !dovetail.buffer
// CHECK-NEXT: %{{.*}} = "dovetail.constant"() {data = ""} : () -> !dovetail.buffer
// CHECK-NEXT: %{{.*}} = "dovetail.constant"() {data = "0000803f"} : () -> !dovetail.buffer
// CHECK-NEXT: return
func.func @round_trip() -> (!dovetail.buffer, !dovetail.buffer) {
  %0 = "dovetail.constant"() {data = "0000803f"} : () -> !dovetail.buffer
  %1 = "dovetail.constant"() {data = ""} : () -> !dovetail.buffer
  %2 = "dovetail.constant"() {data = "0000803f"} : () -> !dovetail.buffer
  return %0, %1 : !dovetail.buffer, !dovetail.buffer
}

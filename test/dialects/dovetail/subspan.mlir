// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches an offset or a length that is lost in print: a launch would touch other bytes.

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: !torch.vtensor
// CHECK: %[[T:.*]] = "dovetail.transient"
// CHECK-NEXT: "dovetail.subspan"(%[[X]]) {length = 8 : i64, offset = 4 : i64} : (!torch.vtensor<[4],f32>) -> !dovetail.buffer
// CHECK-NEXT: "dovetail.subspan"(%[[T]]) {length = 64 : i64, offset = 0 : i64} : (!dovetail.buffer) -> !dovetail.buffer
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.subspan"
func.func @round_trip(%x: !torch.vtensor<[4],f32>) -> (!dovetail.buffer, !dovetail.buffer) {
  %t = "dovetail.transient"() {bytes = 64 : i64} : () -> !dovetail.buffer
  %0 = "dovetail.subspan"(%x) {offset = 4 : i64, length = 8 : i64} : (!torch.vtensor<[4],f32>) -> !dovetail.buffer
  %1 = "dovetail.subspan"(%t) {offset = 0 : i64, length = 64 : i64} : (!dovetail.buffer) -> !dovetail.buffer
  return %0, %1 : !dovetail.buffer, !dovetail.buffer
}

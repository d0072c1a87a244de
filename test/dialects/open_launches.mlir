// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %s --verify-launches -o %t.verified
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a number of a launch that is lost in print, taken for another one, or dropped with its check.

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: !torch.vtensor{{.*}}, %[[K:.*]]: !torch.int
// CHECK: %[[N:.*]] = "dovetail.size"(%[[X]]) {dim = 0 : i64} : (!torch.vtensor<[?,4],f32>) -> index
// CHECK: %[[M:.*]] = "dovetail.size"(%[[K]]) : (!torch.int) -> index
// CHECK: "dovetail.check_equal"(%[[N]], %[[M]]) : (index, index) -> ()
// CHECK: "dovetail.check_range"(%[[N]]) {least = 1 : i64, most = 9 : i64} : (index) -> ()
// CHECK: %[[T:.*]] = "dovetail.open_transient"(%[[B:.*]]) : (index) -> !dovetail.buffer
// CHECK: %[[S:.*]] = "dovetail.open_subspan"(%[[X]], %[[Z:.*]], %[[B]]) : (!torch.vtensor<[?,4],f32>, index, index) -> !dovetail.buffer
// CHECK: %[[U:.*]] = "dovetail.open_subspan"(%[[T]], %[[Z]], %[[B]]) : (!dovetail.buffer, index, index) -> !dovetail.buffer
// CHECK: "dovetail.open_dispatch"(%[[S]], %[[U]], %[[N]], %[[O:.*]], %[[O]], %[[M]]) {entry = "add", operandSegmentSizes = array<i32: 2, 3, 1>}
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.size"
// EFFECTS-NOT: "dovetail.size"
// EFFECTS: "dovetail.check_equal"
// EFFECTS: "dovetail.check_range"
// EFFECTS: "dovetail.open_transient"
// EFFECTS: "dovetail.open_dispatch"
func.func @round_trip(%x: !torch.vtensor<[?,4],f32>, %k: !torch.int) {
  %n = "dovetail.size"(%x) {dim = 0 : i64} : (!torch.vtensor<[?,4],f32>) -> index
  %again = "dovetail.size"(%x) {dim = 0 : i64} : (!torch.vtensor<[?,4],f32>) -> index
  %m = "dovetail.size"(%k) : (!torch.int) -> index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %c = arith.constant 16 : index
  %b = arith.muli %again, %c : index
  "dovetail.check_equal"(%n, %m) : (index, index) -> ()
  "dovetail.check_range"(%n) {least = 1 : i64, most = 9 : i64} : (index) -> ()
  %t = "dovetail.open_transient"(%b) : (index) -> !dovetail.buffer
  %0 = "dovetail.open_subspan"(%x, %zero, %b) : (!torch.vtensor<[?,4],f32>, index, index) -> !dovetail.buffer
  %1 = "dovetail.open_subspan"(%t, %zero, %b) : (!dovetail.buffer, index, index) -> !dovetail.buffer
  "dovetail.open_dispatch"(%0, %1, %n, %one, %one, %m) {entry = "add", operandSegmentSizes = array<i32: 2, 3, 1>} : (!dovetail.buffer, !dovetail.buffer, index, index, index, index) -> ()
  return
}

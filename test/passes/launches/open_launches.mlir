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
// CHECK: %[[T:.*]] = "dovetail.transient"(%[[B:.*]]) {bytes = -9223372036854775808 : i64} : (index) -> !dovetail.buffer
// CHECK: %[[S:.*]] = "dovetail.subspan"(%[[X]], %[[B]]) {length = -9223372036854775808 : i64, offset = 0 : i64} : (!torch.vtensor<[?,4],f32>, index) -> !dovetail.buffer
// CHECK: %[[U:.*]] = "dovetail.subspan"(%[[T]], %[[N]], %[[B]]) {length = -9223372036854775808 : i64, offset = -9223372036854775808 : i64} : (!dovetail.buffer, index, index) -> !dovetail.buffer
// CHECK: "dovetail.dispatch"(%[[S]], %[[U]], %[[N]], %[[M]]) {constants = [-9223372036854775808], entry = "add", operandSegmentSizes = array<i32: 2, 2>, workgroups = [-9223372036854775808, 1, 1]}
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.size"
// EFFECTS-NOT: "dovetail.size"
// EFFECTS: "dovetail.check_equal"
// EFFECTS: "dovetail.check_range"
// EFFECTS: "dovetail.transient"
// EFFECTS: "dovetail.dispatch"
func.func @round_trip(%x: !torch.vtensor<[?,4],f32>, %k: !torch.int) {
  %n = "dovetail.size"(%x) {dim = 0 : i64} : (!torch.vtensor<[?,4],f32>) -> index
  %again = "dovetail.size"(%x) {dim = 0 : i64} : (!torch.vtensor<[?,4],f32>) -> index
  %m = "dovetail.size"(%k) : (!torch.int) -> index
  %c = arith.constant 16 : index
  %b = arith.muli %again, %c : index
  "dovetail.check_equal"(%n, %m) : (index, index) -> ()
  "dovetail.check_range"(%n) {least = 1 : i64, most = 9 : i64} : (index) -> ()
  %t = "dovetail.transient"(%b) {bytes = -9223372036854775808 : i64} : (index) -> !dovetail.buffer
  %0 = "dovetail.subspan"(%x, %b) {length = -9223372036854775808 : i64, offset = 0 : i64} : (!torch.vtensor<[?,4],f32>, index) -> !dovetail.buffer
  %1 = "dovetail.subspan"(%t, %n, %b) {length = -9223372036854775808 : i64, offset = -9223372036854775808 : i64} : (!dovetail.buffer, index, index) -> !dovetail.buffer
  "dovetail.dispatch"(%0, %1, %n, %m) {constants = [-9223372036854775808], entry = "add", operandSegmentSizes = array<i32: 2, 2>, workgroups = [-9223372036854775808, 1, 1]} : (!dovetail.buffer, !dovetail.buffer, index, index) -> ()
  return
}

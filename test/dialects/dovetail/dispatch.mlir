// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a launch that is dropped since nothing uses it, or merged with an equal one.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: "dovetail.dispatch"(%{{.*}}, %{{.*}}) {constants = [7, 4294967295], entry = "add", operandSegmentSizes = array<i32: 2, 0>, workgroups = [8, 2, 1]} : (!dovetail.buffer, !dovetail.buffer) -> ()
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.dispatch"
// EFFECTS: return
func.func @round_trip(%a: !dovetail.buffer, %b: !dovetail.buffer) {
  "dovetail.dispatch"(%a, %b) {constants = [7, 4294967295], entry = "add", operandSegmentSizes = array<i32: 2, 0>, workgroups = [8, 2, 1]} : (!dovetail.buffer, !dovetail.buffer) -> ()
  "dovetail.dispatch"(%a, %b) {constants = [7, 4294967295], entry = "add", operandSegmentSizes = array<i32: 2, 0>, workgroups = [8, 2, 1]} : (!dovetail.buffer, !dovetail.buffer) -> ()
  return
}

// CHECK-LABEL: func.func @on_a_gpu(
// CHECK-NEXT: "dovetail.dispatch"(%{{.*}}) {constants = [], entry = "exp", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 2048 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer) -> ()
func.func @on_a_gpu(%a: !dovetail.buffer) {
  "dovetail.dispatch"(%a) {constants = [], entry = "exp", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 2048 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer) -> ()
  return
}

// CHECK-LABEL: func.func @that_waits(
// CHECK-NEXT: "dovetail.dispatch"(%{{.*}}) {constants = [], entry = "exp", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 0 : i64, waits, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer) -> ()
func.func @that_waits(%a: !dovetail.buffer) {
  "dovetail.dispatch"(%a) {constants = [], entry = "exp", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 0 : i64, waits, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer) -> ()
  return
}

// CHECK-LABEL: func.func @in_sets(
// CHECK-NEXT: "dovetail.dispatch"(%{{.*}}, %{{.*}}) {constants = [], entry = "exp", operandSegmentSizes = array<i32: 2, 0>, sets = 3 : i64, shared_memory = 0 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer, !dovetail.buffer) -> ()
func.func @in_sets(%a: !dovetail.buffer, %b: !dovetail.buffer) {
  "dovetail.dispatch"(%a, %b) {constants = [], entry = "exp", operandSegmentSizes = array<i32: 2, 0>, sets = 3 : i64, shared_memory = 0 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer, !dovetail.buffer) -> ()
  return
}

// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline=partition | FileCheck %s
// RUN: not dovetail-opt %s --split-input-file --pass-pipeline=partition 2>&1 | FileCheck %s --check-prefix=FIRST
//
// Catches an error in one module that hides those after it, and line numbers that count from the module's start.

// CHECK: error: "{{.*}}opt_split_input.mlir":[[# @LINE + 3]]:3: 'dovetail.write' op expects 'mode' to be
// FIRST: dovetail-opt: Unable to parse module assembly:
func.func @f(%v: !torch.vtensor<[],f32>, %x: !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>) {
  "dovetail.write"(%v, %x) {mode = "?"} : (!torch.vtensor<[],f32>, !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>) -> ()
  return
}

// -----

// CHECK: // -----
// CHECK-NEXT: pass 'partition' failed: no function '@joint', the module has @g
// FIRST-NOT: @g
func.func @g() {
  return
}

// -----

// CHECK: // -----
// CHECK-NEXT: module attributes {dovetail.level = "split"}
func.func @joint() {
  return
}

// -----

// CHECK: // -----
// CHECK: error: "{{.*}}opt_split_input.mlir":[[# @LINE + 2]]:10: {{.*}}
func.func @h() {
  return %x : i32
}

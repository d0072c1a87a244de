// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline=partition | FileCheck %s
// RUN: not dovetail-opt %s --split-input-file --pass-pipeline=partition 2>&1 | FileCheck %s --check-prefix=FIRST
//
// Catches an error in one module that hides those after it, line numbers that count from the module's start, and a
// module that is lost or printed without the line between it and the next.

// FIRST: dovetail-opt: Unable to parse module assembly:
// FIRST-NEXT: error: "{{.*}}opt_split_input.mlir":[[# @LINE + 3]]:3: 'dovetail.write' op expects 'mode' to be
func.func @f(%v: !torch.vtensor<[],f32>, %x: !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>) {
  // expected-error @below {{'dovetail.write' op expects 'mode' to be 'tracked', 'no_grad' or 'hidden', got '?'}}
  "dovetail.write"(%v, %x) {mode = "?"} : (!torch.vtensor<[],f32>, !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>) -> ()
  return
}

// -----

// expected-error @unknown {{expected a function of 'dovetail.role' "joint", the module has @g}}
// FIRST-NOT: @g
func.func @g() {
  return
}

// -----

// CHECK: module attributes {dovetail.level = "split"}
// CHECK: func.func @call()
func.func @joint() attributes {dovetail.role = "joint"} {
  return
}

// -----

// expected-error @+2 {{use of undeclared SSA value name}}
func.func @h() {
  return %x : i32
}

// -----

// CHECK: // -----
// CHECK-NEXT: module attributes {dovetail.level = "split"}
// CHECK: func.func @call(%{{.*}}: !dovetail.ref
func.func @joint(%x: !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>) attributes {dovetail.role = "joint"} {
  return
}

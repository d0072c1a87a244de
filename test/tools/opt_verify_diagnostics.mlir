// RUN: dovetail-opt %s --verify-diagnostics --split-input-file | FileCheck %s
// RUN: not dovetail-opt %S/Inputs/unexpected.mlir --verify-diagnostics --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
//
// Catches an annotation that is taken for fulfilled though nothing, something else, or something elsewhere was said, and
// an error that nobody expects passing.

// expected-error @+3 {{'dovetail.read' op has no attribute 'kind'}}
!v = !torch.vtensor<[4],f32>
func.func @plus(%x: !dovetail.ref<!v, strided<[1]>>) {
  %0 = "dovetail.read"(%x) {kind = 1 : i64} : (!dovetail.ref<!v, strided<[1]>>) -> !v
  return
}

// -----

func.func @above() {
  return %x : i32
  // expected-error @above {{use of undeclared SSA value name}}
}

// -----

func.func @same_line() {
  return %x : i32 // expected-error {{use of undeclared SSA value name}}
}

// -----

// expected-note @+1 {{see existing symbol definition here}}
func.func private @twice()
// expected-error @below {{redefinition of symbol named 'twice'}}
func.func private @twice()

// -----

// COM: What is right is printed; what failed as expected is not.
// CHECK: module {
// CHECK-NEXT: func.func private @good()
// CHECK-NOT: func.func
func.func private @good()

// WRONG: unexpected.mlir:4: unexpected error: use of undeclared SSA value name
// WRONG-NEXT: unexpected.mlir:11: unexpected error: use of undeclared SSA value name
// WRONG-NEXT: unexpected.mlir:9: expected error "use of undeclared SSA value name" was not produced
// WRONG-NEXT: unexpected.mlir:18: unexpected error: use of undeclared SSA value name
// WRONG-NEXT: unexpected.mlir:18: expected error "something else" was not produced
// WRONG-NEXT: unexpected.mlir:23: expected error "anything" was not produced
// WRONG-NEXT: unexpected.mlir: expected note "no place" was not produced
// WRONG-NOT: {{.}}

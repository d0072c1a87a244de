// RUN: dovetail-opt %s --run-check --pass-pipeline='func.func(cse),partition' --split-input-file --verify-diagnostics | FileCheck %s
//
// Catches a check of a module that can't be run ending in ATen's traceback, or passing. test_opt.py shows a pass caught.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
// CHECK: module attributes {dovetail.level = "split"}
// CHECK-NOT: module
func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
  return %o : !r
}

// -----

// COM: Sizes that don't fit: MLIR can't tell, ATen can.
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!m = !torch.vtensor<[3],f32>
!rm = !dovetail.ref<!m, strided<[1]>>
func.func @joint(%x: !r, %y: !rm) -> !r attributes {dovetail.role = "joint"} {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  %1 = "dovetail.read"(%y) : (!rm) -> !m
  // expected-error @below {{'torch.aten.mul.Tensor' op can't be run: The size of tensor a (4) must match the size of tensor b (3)}}
  %2 = torch.aten.mul.Tensor %0, %1 : !v, !m -> !v
  %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
  return %o : !r
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
  // expected-error @below {{'dovetail.view' op can't be said in Python: PyTorch}}
  %o = "dovetail.view"(%x) {args = [], callee = "aten.no_such_view.default", index = -1 : i64} : (!r) -> !r
  return %o : !r
}

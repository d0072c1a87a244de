// RUN: dovetail-opt %s --split-input-file --verify-diagnostics | FileCheck %s
//
// Catches a destination of other sizes than the argument's, and a proof that nobody knows.

!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
// CHECK: 'dovetail.destination' op expects a result of type '!torch.tensor<[4],f32>', got '!torch.tensor<[5],f32>'
func.func @sizes(%x: !r) {
  %a = "dovetail.destination"(%x) {proof = "none"} : (!r) -> !torch.tensor<[5],f32>
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
// CHECK: 'dovetail.destination' op expects 'proof' to be 'pointwise', 'not read' or 'none', got 'trust me'
func.func @proof(%x: !r) {
  %a = "dovetail.destination"(%x) {proof = "trust me"} : (!r) -> !torch.tensor<[4],f32>
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
// CHECK: 'dovetail.destination' op has no attribute 'prof', expected 'proof'
func.func @attribute(%x: !r) {
  %a = "dovetail.destination"(%x) {proof = "none", prof = 1 : i64} : (!r) -> !torch.tensor<[4],f32>
  return
}

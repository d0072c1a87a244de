// RUN: dovetail-opt %s --split-input-file --verify-diagnostics
//
// Catches a destination of other sizes than the argument's, and a proof that nobody knows.

!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
func.func @sizes(%x: !r) {
  // expected-error @below {{'dovetail.destination' op expects a result of type '!torch.tensor<[4],f32>', got '!torch.tensor<[5],f32>'}}
  %a = "dovetail.destination"(%x) {proof = "none"} : (!r) -> !torch.tensor<[5],f32>
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
func.func @proof(%x: !r) {
  // expected-error @below {{'dovetail.destination' op expects 'proof' to be 'pointwise', 'not read' or 'none', got 'trust me'}}
  %a = "dovetail.destination"(%x) {proof = "trust me"} : (!r) -> !torch.tensor<[4],f32>
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
func.func @attribute(%x: !r) {
  // expected-error @below {{'dovetail.destination' op has no attribute 'prof', expected 'proof'}}
  %a = "dovetail.destination"(%x) {proof = "none", prof = 1 : i64} : (!r) -> !torch.tensor<[4],f32>
  return
}

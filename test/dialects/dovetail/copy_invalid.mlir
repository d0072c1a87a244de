// RUN: dovetail-opt %s --split-input-file --verify-diagnostics
//
// Catches a copy of memory, which is not a value, one of another type, and a misspelt attribute.

func.func @operand(%m: !torch.tensor<[4],f32>) {
  // expected-error @+1 {{'dovetail.copy' op expects a value of type '!torch.vtensor', got '!torch.tensor<[4],f32>'}}
  %0 = "dovetail.copy"(%m) : (!torch.tensor<[4],f32>) -> !torch.tensor<[4],f32>
  return
}

// -----

func.func @result(%v: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'dovetail.copy' op expects result type '!torch.vtensor<[4],f32>', got '!torch.vtensor<[4],f64>'}}
  %0 = "dovetail.copy"(%v) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f64>
  return
}

// -----

func.func @attribute(%v: !torch.vtensor<[4],f32>) {
  // expected-error @+1 {{'dovetail.copy' op has no attribute 'deep', expected none}}
  %0 = "dovetail.copy"(%v) {deep} : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return
}

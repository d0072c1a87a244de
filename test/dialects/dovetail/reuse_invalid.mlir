// RUN: dovetail-opt %s --split-input-file --verify-diagnostics
//
// Catches memory of a size that nobody knows, or of another than it has, and a misspelt attribute.

func.func @result(%m: !torch.tensor<[4],f32>) {
  // expected-error @+1 {{'dovetail.reuse' op expects a result of type '!torch.tensor', ranked, got '!torch.vtensor<[4],f32>'}}
  %0 = "dovetail.reuse"(%m) : (!torch.tensor<[4],f32>) -> !torch.vtensor<[4],f32>
  return
}

// -----

func.func @operand(%m: !torch.list<vtensor>) {
  // expected-error @+1 {{'dovetail.reuse' op expects a tensor with static sizes to reuse, got '!torch.list<vtensor>'}}
  %0 = "dovetail.reuse"(%m) : (!torch.list<vtensor>) -> !torch.tensor<[4],f32>
  return
}

// -----

func.func @attribute(%m: !torch.tensor<[4],f32>) {
  // expected-error @+1 {{'dovetail.free' op has no attribute 'late', expected none}}
  "dovetail.free"(%m) {late} : (!torch.tensor<[4],f32>) -> ()
  return
}

// -----

func.func @other_size(%m: !torch.vtensor<[?,4],f32>, %n: !torch.int) {
  // expected-error @+1 {{'dovetail.reuse' op expects a tensor with static sizes to reuse, got '!torch.vtensor<[?,4],f32>'}}
  %0 = "dovetail.reuse"(%m, %n) {shared} : (!torch.vtensor<[?,4],f32>, !torch.int) -> !torch.tensor<[4,?],f32>
  return
}

// -----

func.func @number(%m: !torch.vtensor<[?],f32>) {
  // expected-error @+1 {{'dovetail.reuse' op expects a number for each of the 1 open sizes, got 0}}
  %0 = "dovetail.reuse"(%m) {shared} : (!torch.vtensor<[?],f32>) -> !torch.tensor<[?],f32>
  return
}

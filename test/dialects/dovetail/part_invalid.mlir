// RUN: dovetail-opt %s --split-input-file --verify-diagnostics
//
// Catches a part that lies outside of its memory, which a kernel would write to.

!m = !torch.tensor<[4,6],f32>
func.func @end(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects an end within 6, got 7}}
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 4 : i64} : (!m) -> !torch.tensor<[4,3],f32>
  return
}

// -----

!m = !torch.tensor<[4,6],f32>
func.func @start(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects 'start' to be an integer from 0 up, got -1}}
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = -1 : i64} : (!m) -> !torch.tensor<[4,3],f32>
  return
}

// -----

!m = !torch.tensor<[4,6],f32>
func.func @dim(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects a part of '!torch.tensor<[4,6],f32>' along dimension 2, got '!torch.tensor<[4,3],f32>'}}
  %a = "dovetail.part"(%m) {dim = 2 : i64, start = 0 : i64} : (!m) -> !torch.tensor<[4,3],f32>
  return
}

// -----

!m = !torch.tensor<[4,6],f32>
func.func @other(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects result type '!torch.tensor<[4,3],f32>', got '!torch.tensor<[3,3],f32>'}}
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 0 : i64} : (!m) -> !torch.tensor<[3,3],f32>
  return
}

// -----

!v = !torch.vtensor<[4,6],f32>
func.func @value(%m: !v) {
  // expected-error @below {{'dovetail.part' op expects memory, of type '!torch.tensor', got '!torch.vtensor<[4,6],f32>'}}
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 0 : i64} : (!v) -> !torch.tensor<[4,3],f32>
  return
}

// -----

!m = !torch.tensor<[4,6],f32>
func.func @below(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects a part of '!torch.tensor<[4,6],f32>' along dimension -5, got '!torch.tensor<[4,3],f32>'}}
  %a = "dovetail.part"(%m) {dim = -5 : i64, start = 0 : i64} : (!m) -> !torch.tensor<[4,3],f32>
  return
}

// -----

!m = !torch.tensor<[4,?],f32>
func.func @open(%m: !m, %n: !torch.int) {
  // expected-error @below {{'dovetail.part' op expects a number for each of the 2 open ends, got 1}}
  %a = "dovetail.part"(%m, %n) {dim = 1 : i64, start = -9223372036854775808 : i64} : (!m, !torch.int) -> !m
  return
}

// -----

!m = !torch.tensor<[4,?],f32>
func.func @another(%m: !m, %n: !torch.int) {
  // expected-error @below {{'dovetail.part' op expects result type '!torch.tensor<[4,?],f32>', got '!torch.tensor<[?,?],f32>'}}
  %a = "dovetail.part"(%m, %n) {dim = 1 : i64, start = 0 : i64} : (!m, !torch.int) -> !torch.tensor<[?,?],f32>
  return
}

// -----

!m = !torch.tensor<[4,6],f32>
func.func @end_of_steps(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects an end within 6, got 7}}
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 2 : i64, step = 2 : i64} : (!m) -> !torch.tensor<[4,3],f32>
  return
}

// -----

!m = !torch.tensor<[4,6],f32>
func.func @step(%m: !m) {
  // expected-error @below {{'dovetail.part' op expects 'step' to be an integer from 1 up, got 0 : i64}}
  %a = "dovetail.part"(%m) {dim = 1 : i64, start = 0 : i64, step = 0 : i64} : (!m) -> !torch.tensor<[4,3],f32>
  return
}

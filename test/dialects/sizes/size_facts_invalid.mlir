// Would catch facts of open sizes that no reader expects: an array of one number where two are read, a map of another rank,
// a division by 0, a symbol that nothing takes. Commands refuse them as they read the module, before any pass.
// RUN: dovetail-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'builtin.module' op expects 'dovetail.hints' to be an array of numbers, got "x"}}
module attributes {dovetail.hints = "x"} {}

// -----

// expected-error @below {{'func.func' op expects 'dovetail.range' of argument 0 to be the least and the largest number, got array<i64: 2>}}
func.func private @f(!torch.int {dovetail.range = array<i64: 2>, dovetail.symbol = 0 : i64})

// -----

// expected-error @below {{'func.func' op expects 'dovetail.range' of argument 0 to be the least and the largest number, got array<i64: 3, 2>}}
func.func private @f(!torch.int {dovetail.range = array<i64: 3, 2>, dovetail.symbol = 0 : i64})

// -----

// expected-error @below {{'func.func' op expects 'dovetail.symbol' of argument 0 to be a number of 64 bits, at least 0, of a '!torch.int', got -1 : i64}}
func.func private @f(!torch.int {dovetail.symbol = -1 : i64})

// -----

// expected-error @below {{'func.func' op expects 'dovetail.symbol' of argument 0 to be a number of 64 bits, at least 0, of a '!torch.int', got 0 : i64}}
func.func private @f(!torch.float {dovetail.symbol = 0 : i64})

// -----

!v = !torch.vtensor<[?,4],f32>
// expected-error @below {{'func.func' op expects 'dovetail.sizes' of result 0 to be a map to 2 sizes, those of '!torch.vtensor<[?,4],f32>', got affine_map<()[s0] -> (s0)>}}
func.func private @f(!v) -> (!v {dovetail.sizes = affine_map<()[s0] -> (s0)>})

// -----

!v = !torch.vtensor<[?,4],f32>
// expected-error @below {{expects 'dovetail.sizes' of argument 0 to be a map to the sizes that '!torch.vtensor<[?,4],f32>' says, got affine_map<()[s0] -> (s0, 5)>}}
func.func private @f(!v {dovetail.sizes = affine_map<()[s0] -> (s0, 5)>})

// -----

!v = !torch.vtensor<[?,4],f32>
// expected-error @below {{expects 'dovetail.sizes' of argument 0 to be sums, products, and quotients and remainders by more than 0, rounded down, got affine_map<()[s0] -> (s0 floordiv 0, 4)>}}
func.func private @f(!v {dovetail.sizes = affine_map<()[s0] -> (s0 floordiv 0, 4)>})

// -----

!v = !torch.vtensor<[?,4],f32>
// expected-error @below {{expects 'dovetail.sizes' of argument 0 to be sums, products, and quotients and remainders by more than 0, rounded down, got affine_map<()[s0] -> (s0 ceildiv 2, 4)>}}
func.func private @f(!v {dovetail.sizes = affine_map<()[s0] -> (s0 ceildiv 2, 4)>})

// -----

!v = !torch.vtensor<[?,4],f32>
// expected-error @below {{expects 'dovetail.sizes' of argument 0 to be an affine map of symbols, for a tensor's sizes, of '!torch.vtensor<[?,4],f32>', got affine_map<(d0) -> (d0, 4)>}}
func.func private @f(!v {dovetail.sizes = affine_map<(d0) -> (d0, 4)>})

// -----

!r = !dovetail.ref<!torch.vtensor<[?],f32>, strided<[1]>>
// expected-error @below {{'func.func' op expects 'dovetail.sizes' of argument 1 by symbols that it takes, got s1}}
func.func @f(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0, s1] -> (s1)>}) attributes {dovetail.role = "joint"} {
  return
}

// -----

!v = !torch.vtensor<[?],f32>
func.func @f(%x: !v) {
  // expected-error @below {{'torch.aten.exp' op expects 'dovetail.sizes' to have an entry for each of 1 results, got []}}
  %0 = torch.aten.exp %x {dovetail.sizes = []} : !v -> !v
  return
}

// -----

!v = !torch.vtensor<[?],f32>
func.func @f(%x: !v) {
  // expected-error @below {{'torch.aten.exp' op expects 'dovetail.sizes' of result 0 to be a map to 1 sizes, those of '!torch.vtensor<[?],f32>', got affine_map<()[s0] -> (s0, s0)>}}
  %0 = torch.aten.exp %x {dovetail.sizes = [affine_map<()[s0] -> (s0, s0)>]} : !v -> !v
  return
}

// -----

!v = !torch.vtensor<[?],f32>
func.func @f(%x: !v, %zero: !torch.int) {
  // expected-error @below {{'torch.operator' op expects one result and 'dovetail.range' where it has 'dovetail.symbol'}}
  %0 = torch.operator "torch.aten.sym_size.int"(%x, %zero) {dovetail.symbol = 0 : i64} : (!v, !torch.int) -> !torch.int
  return
}

// -----

!v = !torch.vtensor<[?],f32>
func.func @f(%x: !v, %zero: !torch.int) {
  // expected-error @below {{'torch.operator' op expects 'dovetail.range' to be the least and the largest number, got array<i32: 0, 6>}}
  %0 = torch.operator "torch.aten.sym_size.int"(%x, %zero) {dovetail.range = array<i32: 0, 6>, dovetail.symbol = 0 : i64} : (!v, !torch.int) -> !torch.int
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>
// expected-error @below {{'func.func' op expects 'dovetail.strides' of argument 0 by symbols that it takes, got s1}}
func.func private @layouts(!r {dovetail.strides = affine_map<()[s0, s1] -> (s1, 1)>}) attributes {dovetail.role = "layouts"}

// -----

// COM: Only declared, so that there is no argument to look at.
func.func private @f(!torch.int {dovetail.symbol = 0 : i64}) attributes {dovetail.role = "joint"}

// -----

!r = !dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>
// expected-error @below {{'func.func' op expects 'dovetail.strides' of argument 0 to be a map to the strides that '!dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>' says, got affine_map<()[s0] -> (s0, 2)>}}
func.func private @f(!r {dovetail.strides = affine_map<()[s0] -> (s0, 2)>})

// -----

!r = !dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>
// expected-error @below {{'func.func' op expects 'dovetail.strides' of argument 0 to be an affine map of symbols, for a tensor's strides, of '!dovetail.ref<!torch.vtensor<[?,4],f32>, strided<[?, 1]>>', got 3 : i64}}
func.func private @f(!r {dovetail.strides = 3 : i64})

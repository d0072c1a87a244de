// Would catch an op that loses a number which its type or its attributes leave open, or takes one too many or few.
// RUN: dovetail-opt %s --split-input-file --verify-diagnostics | dovetail-opt --split-input-file --verify-diagnostics | FileCheck %s

!v = !torch.vtensor<[2,?],f32>
!r = !dovetail.ref<!v, strided<[?, 1]>>
!flat = !dovetail.ref<!torch.vtensor<[?],f32>, strided<[1]>>
// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[N:.*]]: !torch.int
func.func @f(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (2, s0)>}) -> (!r, !flat) {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  // CHECK: "dovetail.own"(%{{.*}}, %[[N]]) {requires_grad = false}
  %1 = "dovetail.own"(%0, %n) {requires_grad = false} : (!v, !torch.int) -> !r
  // CHECK: "dovetail.view"(%{{.*}}, %[[N]]) {args = [0, -9223372036854775808], callee = "aten.select.int", index = -1 : i64}
  %2 = "dovetail.view"(%1, %n) {args = [0, -9223372036854775808], callee = "aten.select.int", index = -1 : i64} : (!r, !torch.int) -> !flat
  // CHECK: "dovetail.set_metadata"(%{{.*}}, %[[N]], %[[N]]) {offset = 0 : i64, size = [-9223372036854775808, 2], stride = [1, -9223372036854775808]}
  "dovetail.set_metadata"(%x, %n, %n) {offset = 0 : i64, size = [-9223372036854775808, 2], stride = [1, -9223372036854775808]} : (!r, !torch.int, !torch.int) -> ()
  // CHECK: "dovetail.alloc"(%[[N]]) : (!torch.int) -> !torch.tensor<[2,?],f32>
  %3 = "dovetail.alloc"(%n) : (!torch.int) -> !torch.tensor<[2,?],f32>
  return %1, %2 : !r, !flat
}

// -----

!v = !torch.vtensor<[2,?],f32>
!r = !dovetail.ref<!v, strided<[?, 1]>>
func.func @f(%x: !r) {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  // expected-error @below {{'dovetail.own' op expects a number for each of the 1 open strides, got 0}}
  %1 = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[2,?],f32>, strided<[?, 1]>>
func.func @f(%x: !r, %n: !torch.int) {
  // expected-error @below {{'dovetail.view' op expects a number for each of the 0 open arguments, got 1}}
  %0 = "dovetail.view"(%x, %n) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r, !torch.int) -> !r
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[2,?],f32>, strided<[?, 1]>>
func.func @f(%x: !r, %n: !torch.float) {
  // expected-error @below {{'dovetail.set_metadata' op expects numbers of type '!torch.int', got '!torch.float'}}
  "dovetail.set_metadata"(%x, %n) {offset = -9223372036854775808 : i64, size = [2], stride = [1]} : (!r, !torch.float) -> ()
  return
}

// RUN: dovetail-opt %s --split-input-file --pass-pipeline='partition' | FileCheck %s
// RUN: dovetail-opt %s --split-input-file --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --split-input-file --pass-pipeline='partition{memory-budget=0.5}' | FileCheck %s
//
// Catches a value that is saved beside the argument from which it is computed, though a second derivative keeps that alive
// anyway: twice the bytes of eager, which saves the argument alone. And the argument saved where nothing keeps it, or where
// the user may write it.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"(
  // CHECK: return %{{[^,]*}}, %[[X]]{{[ ,]}}
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.cos
  func.func @joint(%x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sin %0 : !v -> !v
    %2 = torch.aten.cos %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %4 = torch.aten.mul.Tensor %3, %2 : !v, !v -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
#s = affine_map<()[s0] -> (s0)>

// COM: Of open sizes, too.
module attributes {dovetail.hints = array<i64: 8>, dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"(
  // CHECK: return %{{[^,]*}}, %[[X]]{{[ ,]}}
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.cos
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.requires_grad, dovetail.sizes = #s, dovetail.watched = array<i64: 0>}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %1 = torch.aten.sin %0 {dovetail.sizes = [#s]} : !v -> !v
    %2 = torch.aten.cos %0 {dovetail.sizes = [#s]} : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) {dovetail.sizes = [#s]} : (!r) -> !r
    %3 = "dovetail.read"(%t) {dovetail.sizes = [#s]} : (!r) -> !v
    %4 = torch.aten.mul.Tensor %3, %2 {dovetail.sizes = [#s]} : !v, !v -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: Eager's backward does not mind a write to %x, so it can't be read there.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[COS:.*]] = torch.aten.cos
  // CHECK: return %{{.*}}, %[[COS]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.cos
  // CHECK: return
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sin %0 : !v -> !v
    %2 = torch.aten.cos %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %4 = torch.aten.mul.Tensor %3, %2 : !v, !v -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: Without a second derivative, nothing keeps %x: of as many bytes, what spares the backward work is saved.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[COS:.*]] = torch.aten.cos
  // CHECK: return %{{.*}}, %[[COS]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.cos
  // CHECK: return
  func.func @joint(%x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}) -> !r attributes {dovetail.once = "a part counts as constant", dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sin %0 : !v -> !v
    %2 = torch.aten.cos %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %4 = torch.aten.mul.Tensor %3, %2 : !v, !v -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: Nor where the backward has an effect.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[COS:.*]] = torch.aten.cos
  // CHECK: return %{{.*}}, %[[COS]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.cos
  // CHECK: return
  func.func @joint(%x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sin %0 : !v -> !v
    %2 = torch.aten.cos %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %5 = torch.aten.eq.Tensor %3, %3 : !v, !v -> !torch.vtensor<[4],i1>
    %6 = torch.aten.all %5 : !torch.vtensor<[4],i1> -> !torch.vtensor<[],i1>
    torch.operator "torch.aten._assert_async"(%6) {dovetail.effect = "other", dovetail.in_backward, dovetail.reason = "effect: a check"} : (!torch.vtensor<[],i1>) -> ()
    %4 = torch.aten.mul.Tensor %3, %2 : !v, !v -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: Nor where it would be computed from what the call changes: %y is gone by then.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[COS:.*]] = torch.aten.cos
  // CHECK: return {{.*}}%[[COS]]
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.cos
  // CHECK: return
  func.func @joint(%x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}, %y: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = torch.aten.cos %0 : !v -> !v
    %3 = torch.aten.exp %1 : !v -> !v
    %4 = torch.aten.mul.Tensor %2, %3 : !v, !v -> !v
    %o = "dovetail.own"(%4) {requires_grad = true} : (!v) -> !r
    "dovetail.write"(%2, %y) {mode = "no_grad"} : (!v, !r) -> ()
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %2 : !v, !v -> !v
    %7 = torch.aten.mul.Tensor %5, %3 : !v, !v -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    "dovetail.gradient"(%7, %y) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: Of as many bytes the result itself is saved: the user may keep it, and a second derivative starts from it.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[TANH:.*]] = torch.aten.tanh
  // CHECK: return %{{[^,]*}}, %[[TANH]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.mul
  // CHECK: torch.aten.rsub
  // CHECK: torch.aten.mul
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %int1 = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.tanh %0 : !v -> !v
    %2 = torch.aten.mul.Tensor %1, %1 : !v, !v -> !v
    %3 = torch.aten.rsub.Scalar %2, %int1, %int1 : !v, !torch.int, !torch.int -> !v
    %o = "dovetail.own"(%1) {dovetail.watched = array<i64: 0>, requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %4 = "dovetail.read"(%t) : (!r) -> !v
    %5 = torch.aten.mul.Tensor %4, %3 : !v, !v -> !v
    "dovetail.gradient"(%5, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: A second derivative takes a saved sum in place of what is added: no argument is held.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor
  // CHECK: return %{{[^,]*}}, %[[SUM]]{{[ ,]}}
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.cos
  func.func @joint(%x: !r {dovetail.requires_grad}, %y: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %int1 = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = torch.aten.add.Tensor %0, %1, %int1 : !v, !v, !torch.int -> !v
    %3 = torch.aten.sin %2 : !v -> !v
    %4 = torch.aten.cos %2 : !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %4 : !v, !v -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    "dovetail.gradient"(%6, %y) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
#s = affine_map<()[s0] -> (s0)>

// COM: So it does of open sizes.
module attributes {dovetail.hints = array<i64: 8>, dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor
  // CHECK: return %{{[^,]*}}, %[[SUM]]{{[ ,]}}
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.cos
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.requires_grad, dovetail.sizes = #s}, %y: !r {dovetail.requires_grad, dovetail.sizes = #s}) -> !r attributes {dovetail.role = "joint"} {
    %int1 = torch.constant.int 1
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#s]} : (!r) -> !v
    %2 = torch.aten.add.Tensor %0, %1, %int1 {dovetail.sizes = [#s]} : !v, !v, !torch.int -> !v
    %3 = torch.aten.sin %2 {dovetail.sizes = [#s]} : !v -> !v
    %4 = torch.aten.cos %2 {dovetail.sizes = [#s]} : !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) {dovetail.sizes = [#s]} : (!r) -> !r
    %5 = "dovetail.read"(%t) {dovetail.sizes = [#s]} : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %4 {dovetail.sizes = [#s]} : !v, !v -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    "dovetail.gradient"(%6, %y) : (!v, !r) -> ()
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// COM: Not of a product, whose derivative takes both.
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[COS:.*]] = torch.aten.cos
  // CHECK: return %{{[^,]*}}, %[[COS]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.cos
  // CHECK: return
  func.func @joint(%x: !r {dovetail.requires_grad}, %y: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %int1 = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %3 = torch.aten.sin %2 : !v -> !v
    %4 = torch.aten.cos %2 : !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %4 : !v, !v -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    "dovetail.gradient"(%6, %y) : (!v, !r) -> ()
    return %o : !r
  }
}

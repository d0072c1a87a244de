// RUN: dovetail-opt %s --split-input-file --pass-pipeline='state-replay' -o %t
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %t --split-input-file --pass-pipeline='state-replay' | diff %t -
// RUN: dovetail-opt %s --split-input-file --pass-pipeline='state-replay' --run-check -o %t
//
// Catches a replay of a gradient that lacks what it takes, computes again what has a history of its own, or draws other
// numbers than the forward did: what a call leaves for it is what stands here.

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>

module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r {dovetail.name = "x"}, %y: !r, %z: !r, %w: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y, %z, %w) : (!r, !r, !r, !r) -> !r
    return %0 : !r
  }

  // COM: %x is read through a saved value, %w in the forward alone; %z is computed with again, as all else is.
  // CHECK: func.func private @apply(!dovetail.ref{{.*}}>, !dovetail.ref{{.*}}>, !dovetail.ref{{.*}}> {dovetail.for_replay}, !dovetail.ref
  // CHECK-NOT: for_replay
  // CHECK-SAME: dovetail.draws = ["cpu"]
  func.func private @apply(!r, !r, !r, !r) -> !r
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  // CHECK-LABEL: func.func @forward(
  // COM: What is handed out has a history, a copy of an argument gets that argument's, a mask needs none.
  // CHECK-SAME: {dovetail.for_replay, dovetail.saved = "checked"}
  // CHECK-SAME: {dovetail.for_replay, dovetail.saved = "checked", dovetail.value_of = 0 : i64}
  // CHECK-SAME: {dovetail.for_replay, dovetail.saved = "private", dovetail.value_of = 1 : i64}
  // CHECK-SAME: {dovetail.saved = "private"}
  // CHECK-SAME: {dovetail.for_replay, dovetail.saved = "private"}
  // COM: No gradient depends on this one.
  // CHECK-SAME: {dovetail.saved = "private"}
  func.func @forward(%x: !r, %y: !r, %z: !r, %w: !r) -> (!r, !m {dovetail.saved = "checked"},
      !m {dovetail.saved = "checked"}, !m {dovetail.saved = "private"}, !m {dovetail.saved = "private"},
      !torch.vtensor<[4],i1> {dovetail.saved = "private"}, !m {dovetail.saved = "private"})
      attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 0.5
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = "dovetail.read"(%y) : (!r) -> !m
    %2 = "dovetail.read"(%z) : (!r) -> !m
    %3 = "dovetail.read"(%w) : (!r) -> !m
    %4 = torch.aten.exp %0 : !m -> !m
    %5 = "dovetail.copy"(%1) : (!m) -> !m
    // COM: The first moves the generator on for the second, which is computed again.
    %6 = torch.operator "torch.aten.bernoulli.p"(%2, %half, %none) {dovetail.effect = "draws", dovetail.reason = "effect"} : (!m, !torch.float, !torch.none) -> !m
    %7 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "effect"} : (!m, !torch.float, !torch.none) -> !m
    %8 = torch.aten.mul.Tensor %7, %1 : !m, !m -> !m
    %9 = torch.aten.isfinite %3 : !m -> !torch.vtensor<[4],i1>
    %10 = torch.aten.sin %3 : !m -> !m
    %o = "dovetail.own"(%4) {requires_grad = true} : (!m) -> !r
    return %o, %4, %0, %5, %8, %9, %10 : !r, !m, !m, !m, !m, !torch.vtensor<[4],i1>, !m
  }

  func.func @backward(%a: !m, %b: !m, %c: !m, %d: !m, %e: !torch.vtensor<[4],i1>, %f: !m,
      %t: !r {dovetail.tangent_of = 0 : i64}) -> (!m, !torch.none, !torch.none, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.aten.mul.Tensor %0, %a : !m, !m -> !m
    %2 = torch.aten.mul.Tensor %1, %c : !m, !m -> !m
    %3 = torch.aten.mul.Tensor %2, %d : !m, !m -> !m
    %4 = torch.aten.mul.Tensor %3, %e : !m, !torch.vtensor<[4],i1> -> !m
    return %4, %none, %none, %none : !m, !torch.none, !torch.none, !torch.none
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>

// COM: What is computed again from an argument is not to be had, once the function has changed that.
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r {dovetail.name = "x"}) -> !r attributes {dovetail.role = "call"} {
    %0:2 = call @apply(%x) : (!r) -> (!r, !r)
    "dovetail.write"(%0#1, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#0 : !r
  }

  // CHECK: func.func private @apply(!dovetail.ref{{[^{]*}} attributes
  // CHECK-SAME: dovetail.once = "it depends on what argument x held before the function changed it"
  func.func private @apply(!r) -> (!r, !r)
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: for_replay
  func.func @forward(%x: !r) -> (!r, !r, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.aten.sin %0 : !m -> !m
    %2 = torch.aten.cos %0 : !m -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!m) -> !r
    return %o, %p, %2 : !r, !r, !m
  }

  func.func @backward(%a: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.aten.mul.Tensor %0, %a : !m, !m -> !m
    return %1 : !m
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>

// COM: No derivative of a sum takes what is added: of that no more than the history is wanted, but of parameters, which
// COM: live on anyway. Of %y the sine takes the value, too; of %z, a product.
module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @call(
  func.func @call(%x: !r, %y: !r, %z: !r, %w: !r {dovetail.static}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y, %z, %w) : (!r, !r, !r, !r) -> !r
    return %0 : !r
  }

  // CHECK: func.func private @apply(!dovetail.ref{{.*}} {dovetail.for_history}, !dovetail.ref{{.*}} {dovetail.for_replay}, !dovetail.ref{{.*}} {dovetail.for_replay}, !dovetail.ref{{.*}} {dovetail.for_replay})
  func.func private @apply(!r, !r, !r, !r) -> !r
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: {dovetail.for_replay, dovetail.saved = "private"}
  func.func @forward(%x: !r, %y: !r, %z: !r, %w: !r) -> (!r, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %two = torch.constant.float 2.0
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = "dovetail.read"(%y) : (!r) -> !m
    %2 = "dovetail.read"(%z) : (!r) -> !m
    %3 = "dovetail.read"(%w) : (!r) -> !m
    %4 = torch.aten.sin %1 : !m -> !m
    %5 = torch.aten.mul.Tensor %2, %3 : !m, !m -> !m
    %6 = torch.aten.add.Tensor %0, %1, %one : !m, !m, !torch.int -> !m
    %7 = torch.aten.add.Tensor %6, %4, %one : !m, !m, !torch.int -> !m
    %8 = torch.aten.add.Tensor %7, %5, %one : !m, !m, !torch.int -> !m
    %9 = torch.aten.add.Tensor %8, %3, %one : !m, !m, !torch.int -> !m
    %10 = torch.aten.cos %9 : !m -> !m
    %o = "dovetail.own"(%10) {requires_grad = true} : (!m) -> !r
    return %o, %9 : !r, !m
  }

  func.func @backward(%a: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!m, !m, !torch.none, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.aten.sin %a : !m -> !m
    %2 = torch.aten.mul.Tensor %0, %1 : !m, !m -> !m
    return %2, %2, %none, %none : !m, !m, !torch.none, !torch.none
  }
}

// -----

!m = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!m, strided<[1]>>
#s = affine_map<()[s0] -> (s0)>

// COM: So it is of open sizes.
module attributes {dovetail.hints = array<i64: 4>, dovetail.level = "split"} {
  // CHECK-LABEL: func.func @call(
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%n, %x) {dovetail.sizes = [#s]} : (!torch.int, !r) -> !r
    return %0 : !r
  }

  // CHECK: func.func private @apply({{.*}}, !dovetail.ref{{.*}} {dovetail.for_history})
  // CHECK-LABEL: func.func @forward(
  func.func private @apply(!torch.int, !r) -> !r
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  // CHECK-SAME: {dovetail.for_replay, dovetail.saved = "private"}
  func.func @forward(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> (!r, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %two = torch.constant.float 2.0
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !m
    %1 = torch.aten.mul.Scalar %0, %two {dovetail.sizes = [#s]} : !m, !torch.float -> !m
    %2 = torch.aten.cos %1 {dovetail.sizes = [#s]} : !m -> !m
    %o = "dovetail.own"(%2) {requires_grad = true} : (!m) -> !r
    return %o, %1 : !r, !m
  }

  func.func @backward(%a: !m {dovetail.sizes = #s}, %t: !r {dovetail.sizes = #s, dovetail.tangent_of = 0 : i64}) -> (!torch.none, !m) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) {dovetail.sizes = [#s]} : (!r) -> !m
    %1 = torch.aten.sin %a {dovetail.sizes = [#s]} : !m -> !m
    %2 = torch.aten.mul.Tensor %0, %1 {dovetail.sizes = [#s]} : !m, !m -> !m
    return %none, %2 : !torch.none, !m
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>

// COM: A write may hide from autograd how the history went on: what the function changes is not stood in for.
module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @call(
  func.func @call(%x: !r {dovetail.name = "x"}) -> !r attributes {dovetail.role = "call"} {
    %0:2 = call @apply(%x) : (!r) -> (!r, !r)
    "dovetail.write"(%0#1, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#0 : !r
  }

  // CHECK: func.func private @apply(!dovetail.ref{{[^{]*}} attributes
  // CHECK-SAME: dovetail.once = "it depends on what argument x held before the function changed it"
  func.func private @apply(!r) -> (!r, !r)
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  func.func @forward(%x: !r) -> (!r, !r, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %two = torch.constant.float 2.0
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.aten.mul.Scalar %0, %two : !m, !torch.float -> !m
    %2 = torch.aten.cos %1 : !m -> !m
    %o = "dovetail.own"(%2) {requires_grad = true} : (!m) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!m) -> !r
    return %o, %p, %1 : !r, !r, !m
  }

  func.func @backward(%a: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.aten.sin %a : !m -> !m
    %2 = torch.aten.mul.Tensor %0, %1 : !m, !m -> !m
    return %2 : !m
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>

// COM: A sum that is saved twice is computed again.
module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @call(
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }

  // CHECK: func.func private @apply(!dovetail.ref{{.*}} {dovetail.for_replay})
  func.func private @apply(!r) -> !r
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  func.func @forward(%x: !r) -> (!r, !m {dovetail.saved = "private"}, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.aten.add.Tensor %0, %0, %one : !m, !m, !torch.int -> !m
    %2 = torch.aten.cos %1 : !m -> !m
    %o = "dovetail.own"(%2) {requires_grad = true} : (!m) -> !r
    return %o, %1, %1 : !r, !m, !m
  }

  func.func @backward(%a: !m, %b: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.aten.sin %a : !m -> !m
    %2 = torch.aten.mul.Tensor %1, %b : !m, !m -> !m
    %3 = torch.aten.mul.Tensor %0, %2 : !m, !m -> !m
    return %3 : !m
  }
}

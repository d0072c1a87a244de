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

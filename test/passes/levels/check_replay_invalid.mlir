// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=regions}' --split-input-file --verify-diagnostics
//
// Catches a module whose calls don't leave what a replay of the gradient takes: the second derivative would raise, miss a
// path to an argument, or draw other numbers.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border", dovetail.draws = ["cpu"]}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.for_replay, dovetail.value_of = 0 : i64, dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 1>, unit, unit]} : (!v, !torch.float, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %0, %1 : !r, !v, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %b: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border", dovetail.once = "why not"}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 1>, unit, unit]} : (!v, !torch.float, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %0, %1 : !r, !v, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %b: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects saved value 0 to say 'dovetail.for_replay' and 'dovetail.value_of' = 0, as a replay of its gradient takes it, or 'dovetail.once'}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border", dovetail.draws = ["cpu"]}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 1>, unit, unit]} : (!v, !torch.float, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %0, %1 : !r, !v, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %b: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects saved value 0 to say 'dovetail.for_replay' and 'dovetail.value_of' = 0, as a replay of its gradient takes it, or 'dovetail.once'}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border", dovetail.draws = ["cpu"]}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.for_replay, dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 1>, unit, unit]} : (!v, !torch.float, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %0, %1 : !r, !v, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %b: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects 'dovetail.draws' to be ["cpu"], as a replay of its gradient takes it, or 'dovetail.once'}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.for_replay, dovetail.value_of = 0 : i64, dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 1>, unit, unit]} : (!v, !torch.float, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %0, %1 : !r, !v, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %b: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects argument 0 to say 'dovetail.for_replay', as a replay of its gradient takes it, or 'dovetail.once'}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border", dovetail.draws = ["cpu"]}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.for_replay, dovetail.saved = "checked", dovetail.result = 0 : i64, dovetail.checked_for = array<i64: 0>}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %half = torch.constant.float 5.000000e-01
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.bernoulli.p"(%0, %half, %none) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 1>, unit, unit]} : (!v, !torch.float, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %2, %1 : !r, !v, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %b: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects argument 0 to say 'dovetail.for_history', as a replay of its gradient takes it, or 'dovetail.once'}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.for_replay, dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %two = torch.constant.float 2.0
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Scalar"(%0, %two) {dovetail.reason = "a test"} : (!v, !torch.float) -> !v
    %2 = torch.operator "torch.aten.sin"(%1) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%a: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.cos"(%a) {dovetail.reason = "a test"} : (!v) -> !v
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %2 : !v
  }
}

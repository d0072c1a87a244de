// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=program}' --split-input-file --verify-diagnostics
//
// Catches a module that says too little of a saved value, or something else than its functions do: the backward would
// then compute with memory that was changed or freed.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.result = 0 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say one of dovetail.result, dovetail.in_result, dovetail.in_argument, got none}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say one of dovetail.result, dovetail.in_result, dovetail.in_argument, got dovetail.result = 0 and dovetail.in_argument = 0}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.result = 0 : i64, dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say none of dovetail.result, dovetail.in_result, dovetail.in_argument, got dovetail.in_result = 0}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "private", dovetail.in_result = 0 : i64}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects 'dovetail.result' of result 1 to be a number below 1, got 1 : i64}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.result = 1 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects 'dovetail.in_argument' of result 1 to be a number below 2, got "x"}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = "x", dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects 'dovetail.checked_for' of result 1 to be an array of numbers below 1, got array<i64: 0, 1>}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0, 1>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say dovetail.in_argument = 0, got dovetail.result = 0}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.result = 0 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say dovetail.in_argument = 0, got dovetail.in_argument = 1}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 1 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say dovetail.result = 0, got dovetail.in_argument = 0}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to be checked, as the user can reach its memory: dovetail.in_argument = 0}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to be checked, as the user can reach its memory: dovetail.result = 0}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %1 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say 'dovetail.checked_for' of [0] at least, got none}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  // expected-error @below {{'func.func' op expects result 1 to say 'dovetail.uses' of [0] at least, got none}}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v {dovetail.saved = "checked", dovetail.in_argument = 0 : i64, dovetail.checked_for = array<i64: 0>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  // expected-error @below {{'func.func' op expects 'dovetail.uses' of argument 0 to be an array of numbers below 1, got 0 : i64}}
  func.func @backward(%s: !v {dovetail.uses = 0 : i64}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!v, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %s) {dovetail.reason = "a test"} : (!v, !v) -> !v
    return %1, %none : !v, !torch.none
  }
}

// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=program}' --split-input-file --verify-diagnostics
//
// Catches a result of the caller's of which it is said wrongly whose memory it lies in: the version of the wrapper
// subclass around it would go unchecked before the backward that reads it.

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "program"} {
  // expected-error @below {{'func.func' op expects 'dovetail.in_result' of result 0 to be 0 : i64, got 1 : i64}}
  func.func @call(%x: !r) -> (!r {dovetail.in_result = 1 : i64}, !r) attributes {dovetail.arguments = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}, 1], dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0, %x : !r, !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !m {dovetail.checked_for = array<i64: 0>, dovetail.result = 0 : i64, dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    return %o, %1 : !r, !m
  }
  func.func @backward(%a: !m {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!m, !m) -> !m
    return %1 : !m
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "program"} {
  // expected-error @below {{'func.func' op expects 'dovetail.in_result' of result 1 to be none, got 0 : i64}}
  func.func @call(%x: !r) -> (!r {dovetail.in_result = 0 : i64}, !r {dovetail.in_result = 0 : i64}) attributes {dovetail.arguments = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}, 1], dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0, %x : !r, !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !m {dovetail.checked_for = array<i64: 0>, dovetail.result = 0 : i64, dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    return %o, %1 : !r, !m
  }
  func.func @backward(%a: !m {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!m, !m) -> !m
    return %1 : !m
  }
}

// -----

// COM: Versions of plain tensors are the border's.
!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "program"} {
  // expected-error @below {{'func.func' op expects 'dovetail.in_result' of result 0 to be none, got 0 : i64}}
  func.func @call(%x: !r) -> (!r {dovetail.in_result = 0 : i64}, !r) attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0, %x : !r, !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !m {dovetail.checked_for = array<i64: 0>, dovetail.result = 0 : i64, dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    return %o, %1 : !r, !m
  }
  func.func @backward(%a: !m {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!m, !m) -> !m
    return %1 : !m
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "program"} {
  // expected-error @below {{'func.func' op expects 'dovetail.in_result' of result 0 to be 0 : i64, got none}}
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.arguments = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}], dovetail.results = [{attributes = ["a"], class = "t:T", context = "None", parts = [0], size = [4], stride = [1]}, 1], dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0, %x : !r, !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !m {dovetail.checked_for = array<i64: 0>, dovetail.result = 0 : i64, dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    return %o, %1 : !r, !m
  }
  func.func @backward(%a: !m {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %a) {dovetail.reason = "a test"} : (!m, !m) -> !m
    return %1 : !m
  }
}

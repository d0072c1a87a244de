// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline='verify-level{level=program}'
//
// Catches results and gradients that share memory: a write to one changes the other, where eager's are two.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    return %0#0, %0#1 : !r, !r
  }
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.fallback, dovetail.reason = "a test"} : (!v) -> !v
    %2 = torch.aten.detach %1 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    // expected-error @+1 {{'dovetail.own' op expects what it owns in memory of its own, such as a 'dovetail.copy', got memory that is handed out already}}
    %p = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @+1 {{'dovetail.own' op expects what it owns in memory of its own, such as a 'dovetail.copy', got the caller's memory}}
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.fallback, dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %2 = "dovetail.copy"(%0) : (!v) -> !v
    return %o, %2 : !r, !v
  }
  func.func @backward(%saved: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    // expected-error @+1 {{'func.return' op expects gradient 0 in memory of its own, such as a 'dovetail.copy', got memory that is handed out already}}
    return %saved : !v
  }
}

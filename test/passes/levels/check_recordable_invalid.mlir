// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=regions}' --split-input-file --verify-diagnostics
//
// Catches a CUDA graph that reads where an argument lay once, updates a copy of it, or stands for what the host does.

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r, %w: !r {dovetail.static}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %w) : (!r, !r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects argument 0 not to say 'dovetail.stays', as it may lie elsewhere}}
  func.func @forward(%x: !r {dovetail.stays}, %w: !r {dovetail.stays}) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !r
    return %o : !r
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r, %w: !r {dovetail.static}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %w) : (!r, !r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects argument 1 to say 'dovetail.stays'}}
  func.func @forward(%x: !r, %w: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !r
    return %o : !r
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  // expected-error @below {{'func.func' op expects argument 0 not to say 'dovetail.stays', as it may lie elsewhere}}
  func.func @call(%x: !r {dovetail.stays}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !r
    return %o : !r
  }
}

// -----

// COM: Nothing is recorded on the CPU.
!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r {dovetail.static}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects argument 0 not to say 'dovetail.stays', as it may lie elsewhere}}
  func.func @forward(%x: !r {dovetail.stays}) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !r
    return %o : !r
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!i = !torch.vtensor<[?,1],si64>
!r = !dovetail.ref<!m, strided<[1]>>
!ri = !dovetail.ref<!i, strided<[1, 1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r) -> !ri attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !ri
    return %0 : !ri
  }
  func.func @forward(%x: !r) -> !ri attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    // expected-error @below {{'torch.operator' op expects 'dovetail.not_recordable' to be "the host waits for the values of aten.nonzero.default", got none}}
    %1 = torch.operator "torch.aten.nonzero"(%0) {dovetail.reason = "a test"} : (!m) -> !i
    %o = "dovetail.own"(%1) {requires_grad = false} : (!i) -> !ri
    return %o : !ri
  }
}

// -----

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    // expected-error @below {{'torch.operator' op expects 'dovetail.not_recordable' to be none, got "why not"}}
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.not_recordable = "why not", dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !r
    return %o : !r
  }
}

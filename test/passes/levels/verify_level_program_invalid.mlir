// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=program}' --split-input-file --verify-diagnostics
//
// Catches a pass that leaves the wrong language behind and is believed, and a malformed module that ends in a Python
// error.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // expected-error @below {{'torch.aten.exp' op computes in '@forward' at level 'program', expected a call or a view}}
    %1 = torch.aten.exp %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    // expected-error @below {{'dovetail.write' op has no place in '@forward' at level 'program'}}
    "dovetail.write"(%0, %x) {mode = "hidden"} : (!v, !r) -> ()
    return %o : !r
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r() attributes {dovetail.role = "region"} {
    // expected-error @below {{'dovetail.alloc' op has no place in a region, which IREE compiles}}
    %0 = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
    return
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v) attributes {dovetail.role = "region"} {
    // expected-error @below {{'torch.operator' op has no place in a region, which IREE compiles}}
    %0 = torch.operator "torch.aten.sinc"(%x) {dovetail.reason = "no rule"} : (!v) -> !v
    return
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // expected-error @below {{'func.func' op '@r' is a region, it expects values and memory, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'}}
  func.func private @r(%x: !r) attributes {dovetail.role = "region"} {
    return
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // expected-error @below {{'func.func' op expects 'dovetail.forward' and 'dovetail.backward', got no 'dovetail.backward'}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.role = "border"}
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // expected-error @below {{'func.func' op refers to '@backward', which is not defined}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
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
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func @backward(%t: !r) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  // expected-error @below {{'func.func' op expects its forward to take and return first what it does, got (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) ->}}
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %x) : (!r, !r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func @backward(%t: !r) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  // expected-error @below {{'func.func' op expects its backward to take the 0 saved values first and return 2 gradients, got}}
  func.func private @apply(!r, !r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> (!r, !v) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%t: !r) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  // expected-error @below {{'func.func' op expects its backward to take the 1 saved values first and return 1 gradients, got}}
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

// -----

// COM: Nobody makes eight elements of four; IREE looked for a way for two minutes. What is open is for each call to find out.

!v = !torch.vtensor<[4],f32>
!w = !torch.vtensor<[3,1],f32>
!m = !torch.vtensor<[3,4],f32>
!o = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %w: !w, %o: !o) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %w : !v, !w -> !m
    %1 = torch.aten.mul.Tensor %x, %o : !v, !o -> !v
    // expected-error @below {{'torch.aten.exp' op makes sizes (8) of operands of sizes (4), expected sizes to which these can be broadcast, and no larger ones}}
    %2 = torch.aten.exp %x : !v -> !torch.vtensor<[8],f32>
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!w = !torch.vtensor<[3,1],f32>
!o = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %y: !torch.vtensor<[5],f32>, %w: !w, %o: !o) attributes {dovetail.role = "region"} {
    // expected-error @below {{'torch.aten.mul.Tensor' op makes sizes (2,3,4) of operands of sizes (4), (3,1), expected}}
    %0 = torch.aten.mul.Tensor %x, %w : !v, !w -> !torch.vtensor<[2,3,4],f32>
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!w = !torch.vtensor<[3,1],f32>
!o = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %y: !torch.vtensor<[5],f32>, %w: !w, %o: !o) attributes {dovetail.role = "region"} {
    // expected-error @below {{'torch.aten.mul.Tensor' op makes sizes (4) of operands of sizes (4), (5), expected}}
    %0 = torch.aten.mul.Tensor %x, %y : !v, !torch.vtensor<[5],f32> -> !v
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!w = !torch.vtensor<[3,1],f32>
!o = !torch.vtensor<[?],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %y: !torch.vtensor<[5],f32>, %w: !w, %o: !o) attributes {dovetail.role = "region"} {
    // expected-error @below {{'torch.aten.mul.Tensor' op makes sizes (7) of operands of sizes (?), (4), expected}}
    %0 = torch.aten.mul.Tensor %o, %x : !o, !v -> !torch.vtensor<[7],f32>
    return
  }
}

// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=regions}' --split-input-file --verify-diagnostics
//
// Catches a pass that leaves the wrong language behind and is believed, and a malformed module that ends in a Python
// error.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !v) -> !r attributes {dovetail.role = "call"} {
    // expected-error @below {{'dovetail.own' op has no place in '@call' at level 'regions'}}
    %0 = "dovetail.own"(%x) {requires_grad = false} : (!v) -> !r
    return %0 : !r
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // expected-error @below {{'func.func' op expects 'dovetail.mutated' to be 0 to 2 of its arguments, got 3 : i64}}
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 3, dovetail.role = "guard"}
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // expected-error @below {{'func.func' op expects argument 1 to be a ref with a 'dovetail.name', got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'}}
  func.func private @guard(!r {dovetail.name = "x"}, !r) attributes {dovetail.mutated = 1, dovetail.role = "guard"}
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // expected-error @below {{'func.func' op expects argument 1 to have 'dovetail.group', 'dovetail.start', 'dovetail.root' and 'dovetail.object' together, got dovetail.group, dovetail.start}}
  func.func private @guard(!r {dovetail.name = "x", dovetail.group = 0, dovetail.start = 0, dovetail.root = 0, dovetail.object = 0},
                           !r {dovetail.name = "y", dovetail.group = 0, dovetail.start = 4}) attributes {dovetail.mutated = 1, dovetail.role = "guard"}
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // expected-error @below {{'func.func' op expects argument 1 to have 'dovetail.tracked', as another view of its tensor has}}
  func.func private @guard(!r {dovetail.name = "x", dovetail.group = 0, dovetail.start = 0, dovetail.root = 0, dovetail.object = 0, dovetail.tracked},
                           !r {dovetail.name = "y", dovetail.group = 0, dovetail.start = 4, dovetail.root = 0, dovetail.object = 1}) attributes {dovetail.mutated = 1, dovetail.role = "guard"}
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    return
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
  // expected-error @below {{'func.func' op expects result 1 to have 'dovetail.saved', "checked" or "private", got none}}
  func.func @forward(%x: !r) -> (!r, !v) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0}) -> !v attributes {dovetail.role = "backward"} {
    return %s : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  // expected-error @below {{'func.func' op expects result 1 to have 'dovetail.saved', "checked" or "private", got "shared"}}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "shared"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0}) -> !v attributes {dovetail.role = "backward"} {
    return %s : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o : !r
  }
  // expected-error @below {{'func.func' op expects argument 0 to have 'dovetail.tangent_of', one of the 1 results, got none}}
  func.func @backward(%t: !r) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

// -----

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %o = "dovetail.own"(%0) {requires_grad = true} : (!v) -> !r
    return %o : !r
  }
  // expected-error @below {{'func.func' op expects argument 0 to have 'dovetail.tangent_of', one of the 1 results, got 1 : i64}}
  func.func @backward(%t: !r {dovetail.tangent_of = 1}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    return %0 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
}

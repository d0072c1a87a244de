// RUN: dovetail-opt %s --pass-pipeline='choose-drivers,verify-level{level=regions}' --split-input-file --verify-diagnostics
//
// Catches a module, changed by hand or by a pass, whose update in place would lose a value, reach the user's other
// tensors, or leave arguments half updated. The first module is right; each of the others breaks one rule.

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    // expected-error @below {{'dovetail.write' op can't be 'dovetail.in_place': autograd follows the write}}
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "tracked"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%y, %x) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    // expected-error @below {{'dovetail.write' op can't be 'dovetail.in_place': no guard keeps other arguments off its memory}}
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    // expected-error @below {{'dovetail.write' op expects its value in a 'dovetail.destination' of its argument, proof "pointwise"}}
    "dovetail.write"(%0#1, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    // expected-error @below {{'dovetail.write' op expects its value in a 'dovetail.destination' of its argument, proof "not read"}}
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "not read", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    // expected-error @below {{'dovetail.destination' op has a proof, but no write with 'dovetail.in_place' takes what lies in it}}
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    %4 = torch.copy.to_vtensor %d : !v
    // expected-error @below {{'func.call' op takes an argument's memory to update and once more to read}}
    call @forward_update_0(%4, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    // expected-error @below {{'func.call' op uses an argument's old value when or after it is updated in place}}
    call @forward_update_0(%0, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    // expected-error @below {{'func.return' op uses an argument's old value when or after it is updated in place}}
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    // expected-error @below {{'dovetail.destination' op expects one region to update it}}
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "not read", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "not read"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  // expected-error @below {{'func.func' op expects memory to update by proof 'not read' to be overwritten once, and read accordingly}}
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %zero = torch.constant.int 0
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    // expected-error @below {{'torch.aten.flip' op is not computed element by element, but updates an argument in place}}
    %1 = torch.aten.flip %0, %dims : !v, !torch.list<int> -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %0 : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    // expected-error @below {{'torch.overwrite.tensor.contents' op depends on the old value of an argument that another result takes the place of}}
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    // expected-error @below {{'torch.operator' op may fail after an argument was updated in place}}
    %4 = torch.operator "torch.aten.mm"(%1, %1) {dovetail.reason = "library kernel: contraction"} : (!v, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%1, %d, %a) : (!v, !m, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %a : !v
    // expected-error @below {{'dovetail.alloc' op may fail after an argument was updated in place}}
    %4 = "dovetail.alloc"() : () -> !m
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!vy = !torch.vtensor<[4],f32>
!my = !torch.tensor<[4],f32>
!ry = !dovetail.ref<!vy, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !ry) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !ry) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !ry) -> (!r, !ry)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %y) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!ry, !ry) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !ry {dovetail.name = "y"}) attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !ry) -> (!r, !ry) attributes {dovetail.role = "forward"} {
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    %e = "dovetail.destination"(%y) {proof = "pointwise"} : (!ry) -> !my
    call @forward_update_0(%d, %e) : (!m, !my) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %e : !vy
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!vy) -> !ry
    return %o, %p : !r, !ry
  }
  func.func private @forward_update_0(%d: !m, %e: !my) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.copy.to_vtensor %e : !vy
    %2 = torch.aten.neg %0 : !v -> !v
    %3 = torch.aten.mul.Tensor %1, %2 : !v, !v -> !v
    torch.overwrite.tensor.contents %2 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %3 overwrites %e : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!vy = !torch.vtensor<[2,4],f32>
!my = !torch.tensor<[2,4],f32>
!ry = !dovetail.ref<!vy, strided<[4,1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !ry) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !ry) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !ry) -> (!r, !ry)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %y) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!ry, !ry) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !ry {dovetail.name = "y"}) attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !ry) -> (!r, !ry) attributes {dovetail.role = "forward"} {
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    %e = "dovetail.destination"(%y) {proof = "pointwise"} : (!ry) -> !my
    call @forward_update_0(%d, %e) : (!m, !my) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %e : !vy
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!vy) -> !ry
    return %o, %p : !r, !ry
  }
  func.func private @forward_update_0(%d: !m, %e: !my) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.copy.to_vtensor %e : !vy
    %2 = torch.aten.neg %0 : !v -> !v
    %3 = torch.aten.mul.Tensor %1, %2 : !vy, !v -> !vy
    torch.overwrite.tensor.contents %2 overwrites %d : !v, !m
    // expected-error @below {{depends on an argument's new value, but not element by element in one loop}}
    torch.overwrite.tensor.contents %3 overwrites %e : !vy, !my
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!vy = !torch.vtensor<[4],f32>
!my = !torch.tensor<[4],f32>
!ry = !dovetail.ref<!vy, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !ry) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !ry) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !ry) -> (!r, !ry)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %y) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!ry, !ry) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !ry {dovetail.name = "y"}) attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !ry) -> (!r, !ry) attributes {dovetail.role = "forward"} {
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    %e = "dovetail.destination"(%y) {proof = "pointwise"} : (!ry) -> !my
    call @forward_update_0(%d, %e) : (!m, !my) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.copy.to_vtensor %e : !vy
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!vy) -> !ry
    return %o, %p : !r, !ry
  }
  func.func private @forward_update_0(%d: !m, %e: !my) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %2 = torch.aten.neg %0 : !v -> !v
    torch.overwrite.tensor.contents %2 overwrites %d : !v, !m
    // expected-error @below {{depends on an argument's new value, but not element by element in one loop}}
    torch.overwrite.tensor.contents %2 overwrites %e : !v, !m
    return
  }
}

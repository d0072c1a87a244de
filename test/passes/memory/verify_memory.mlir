// RUN: dovetail-opt %s --pass-pipeline='verify-memory' --split-input-file --verify-diagnostics
//
// Catches a memory plan, made by hand or by a pass, by which a compiled program would read or hand out what was
// overwritten. The first module is right; each of the others breaks one rule.

!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %c = "dovetail.reuse"(%a) : (!m) -> !m
    call @forward_region_0(%2, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    "dovetail.free"(%b) : (!m) -> ()
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Use after free.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    "dovetail.free"(%a) : (!m) -> ()
    %b = "dovetail.alloc"() : () -> !m
    // expected-error @+1 {{'func.call' op uses memory that died at loc(}}
    call @forward_region_0(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Use after free through a view.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %1, %zero, %one : !v, !torch.int, !torch.int -> !v
    "dovetail.free"(%a) : (!m) -> ()
    // expected-error @+1 {{'torch.operator' op uses memory that died at loc(}}
    %2 = torch.operator "torch.aten.exp"(%t) {dovetail.reason = "test"} : (!v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Use after reuse.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %c = "dovetail.reuse"(%a) : (!m) -> !m
    // expected-error @+1 {{'func.call' op uses memory that died at loc(}}
    call @forward_region_0(%1, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Double free.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    "dovetail.free"(%a) : (!m) -> ()
    // expected-error @+1 {{'dovetail.free' op frees memory a second time, it died at loc(}}
    "dovetail.free"(%a) : (!m) -> ()
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A result that is freed: `own` of it is the same memory.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    "dovetail.free"(%a) : (!m) -> ()
    // expected-error @+1 {{'func.return' op uses memory that died at loc(}}
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A caller's argument that is freed.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    // expected-error @+1 {{'dovetail.free' op frees memory of an argument, which others hold}}
    "dovetail.free"(%x) : (!r) -> ()
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A constant that is freed.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %l = torch.vtensor.literal(dense<1.0> : tensor<32x32xf32>) : !v
    // expected-error @+1 {{'dovetail.free' op frees memory of a constant, which others hold}}
    "dovetail.free"(%l) : (!v) -> ()
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A number that is freed.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %i = torch.constant.int 1
    // expected-error @+1 {{'dovetail.free' op expects memory to free, got a value of type '!torch.int'}}
    "dovetail.free"(%i) : (!torch.int) -> ()
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Reuse while what may be a view lives: whether `view` copies depends on the strides of %2, which nobody knows.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %2 = torch.operator "torch.aten.convolution"(%0) {dovetail.reason = "test"} : (!v) -> !v
    %i = torch.constant.int 32
    %l = torch.prim.ListConstruct %i, %i : (!torch.int, !torch.int) -> !torch.list<int>
    %3 = torch.aten.view %2, %l : !v, !torch.list<int> -> !v
    // expected-error @+1 {{'dovetail.reuse' op reuses memory in which the result of 'aten.view.default' may still lie (loc(}}
    %c = "dovetail.reuse"(%2) : (!v) -> !m
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Reuse of a view.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    // expected-error @+1 {{'dovetail.reuse' op reuses a view, expected the memory that it lies in}}
    %c = "dovetail.reuse"(%1) : (!v) -> !m
    call @forward_region_0(%0, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Reuse of what a kernel returns that may not have made it.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %2 = torch.operator "torch.aten.sort"(%0) {dovetail.reason = "test"} : (!v) -> !v
    // expected-error @+1 {{'dovetail.reuse' op reuses memory of 'aten.sort.default', expected that of an alloc, of a library kernel, or a donated argument}}
    %c = "dovetail.reuse"(%2) : (!v) -> !m
    call @forward_region_0(%0, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Reuse of what a custom op may have kept.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.operator "torch.aten.sinc"(%1) {dovetail.reason = "test"} : (!v) -> !v
    "dovetail.free"(%2) : (!v) -> ()
    // expected-error @+1 {{'dovetail.reuse' op reuses memory that 'aten.sinc.default' may keep (loc(}}
    %c = "dovetail.reuse"(%a) : (!m) -> !m
    call @forward_region_0(%0, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Reuse of too little.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !torch.tensor<[32,31],f32>
    // expected-error @+1 {{'dovetail.reuse' op makes 4096 bytes of memory out of 3968}}
    %c = "dovetail.reuse"(%a) : (!torch.tensor<[32,31],f32>) -> !m
    call @forward_region_0(%0, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A result that pins more than its own bytes.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !torch.tensor<[32,33],f32>
    %c = "dovetail.reuse"(%a) : (!torch.tensor<[32,33],f32>) -> !m
    call @forward_region_0(%0, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    // expected-error @+1 {{'func.return' op hands out 4096 bytes in memory of 4224, expected memory of its own size}}
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A destination that is an argument of the same region.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    // expected-error @+1 {{'func.call' op is given memory to overwrite (argument 1) that another argument may lie in}}
    call @forward_region_0(%1, %a) : (!v, !m) -> ()
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A saved value that the user can reach is overwritten.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!v {dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    return %0 : !v
  }
  // expected-error @+1 {{'func.func' op '@backward' has 'dovetail.donated' on argument 0, but the user can reach it}}
  func.func @backward(%s: !v {dovetail.donated}, %t: !r) -> !v attributes {dovetail.role = "backward"} {
    return %s : !v
  }
}

// -----

// A saved value that is saved once more.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!v {dovetail.saved = "private"}, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %a = "dovetail.alloc"() : () -> !m
    %0 = torch.copy.to_vtensor %a : !v
    return %0, %0 : !v, !v
  }
  // expected-error @+1 {{'@backward' has 'dovetail.donated' on argument 0, but the forward returns it twice, or a view of it}}
  func.func @backward(%s: !v {dovetail.donated}, %q: !v, %t: !r) -> !v attributes {dovetail.role = "backward"} {
    return %q : !v
  }
}

// -----

// A part of memory whose rest is somebody else's.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!torch.vtensor<[16,32],f32> {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %end = torch.constant.int 16
    %a = "dovetail.alloc"() : () -> !m
    %0 = torch.copy.to_vtensor %a : !v
    %1 = torch.aten.slice.Tensor %0, %zero, %zero, %end, %one : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[16,32],f32>
    return %1 : !torch.vtensor<[16,32],f32>
  }
  // expected-error @+1 {{'@backward' has 'dovetail.donated' on argument 0, but it is a view}}
  func.func @backward(%s: !torch.vtensor<[16,32],f32> {dovetail.donated}, %t: !r) attributes {dovetail.role = "backward"} {
    return
  }
}

// -----

// What a library kernel returned may be an argument of its, or part of more.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.sort"(%0) {dovetail.reason = "test"} : (!v) -> !v
    return %1 : !v
  }
  // expected-error @+1 {{'@backward' has 'dovetail.donated' on argument 0, but its memory comes from an op}}
  func.func @backward(%s: !v {dovetail.donated}, %t: !r) attributes {dovetail.role = "backward"} {
    return
  }
}

// -----

// What a custom op may have kept.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %a = "dovetail.alloc"() : () -> !m
    %0 = torch.copy.to_vtensor %a : !v
    %1 = torch.operator "torch.aten.sinc"(%0) {dovetail.reason = "test"} : (!v) -> !v
    return %0 : !v
  }
  // expected-error @+1 {{'@backward' has 'dovetail.donated' on argument 0, but 'aten.sinc.default' may keep it}}
  func.func @backward(%s: !v {dovetail.donated}, %t: !r) attributes {dovetail.role = "backward"} {
    return
  }
}

// -----

// A gradient from outside.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %a = "dovetail.alloc"() : () -> !m
    %0 = torch.copy.to_vtensor %a : !v
    return %0 : !v
  }
  // expected-error @+1 {{'@backward' has 'dovetail.donated' on argument 1, but it is no saved value}}
  func.func @backward(%s: !v, %t: !r {dovetail.donated}) attributes {dovetail.role = "backward"} {
    return
  }
}

// -----

// An argument of the caller's.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  // expected-error @+1 {{'@forward' has 'dovetail.donated' on argument 0, but only saved values of '@backward' can be}}
  func.func @forward(%x: !r {dovetail.donated}) attributes {dovetail.role = "forward"} {
    return
  }
}

// -----

// A saved value that is overwritten, but not marked: who keeps the graph would find it overwritten.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> (!v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %a = "dovetail.alloc"() : () -> !m
    %0 = torch.copy.to_vtensor %a : !v
    return %0 : !v
  }
  func.func @backward(%s: !v, %t: !r) attributes {dovetail.role = "backward"} {
    // expected-error @+1 {{'dovetail.reuse' op reuses memory of an argument, expected that of an alloc, of a library kernel, or a donated argument}}
    %c = "dovetail.reuse"(%s) : (!v) -> !m
    return
  }
}

// -----

// Memory that a region reads while it overwrites it: right.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%1, %0, %a) : (!v, !v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
}

// -----

// The same, but the region reads an element for another than takes its place.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result, but an element is read for more than the one that takes its place}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_1(%1, %0, %a) : (!v, !v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
}

// -----

// The operand is needed once more.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%1, %0, %a) : (!v, !v, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    // expected-error @+1 {{'torch.operator' op uses memory that a region overwrites (loc(}}
    %2 = torch.operator "torch.aten.mm"(%1, %3) {dovetail.reason = "test"} : (!v, !v) -> !v
    "dovetail.free"(%a) : (!m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
}

// -----

// No region takes both.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result, expected one region that takes both}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%0, %0, %a) : (!v, !v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
}

// -----

// Another operand lies there, too: it is read for other elements.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %t = torch.operator "torch.aten.detach"(%1) {dovetail.reason = "test"} : (!v) -> !v
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result, expected one region that takes both}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%1, %t, %a) : (!v, !v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
}

// -----

// What runs on a GPU shares none.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result on cuda:0, expected a program for the CPU}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%1, %a) : (!v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// No plan shows that the region is one loop.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result, but '@forward_region_0' is kept apart}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%1, %a) : (!v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.kept_apart = "no plan", dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Another operand may lie there: the strides of %1, which nobody knows, say whether it does.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.convolution"(%0) {dovetail.reason = "test"} : (!v) -> !v
    %size = torch.constant.int 32
    %sizes = torch.prim.ListConstruct %size, %size : (!torch.int, !torch.int) -> !torch.list<int>
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result, but another operand lies there, too}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    %t = torch.operator "torch.aten.reshape"(%1, %sizes) {dovetail.reason = "test"} : (!v, !torch.list<int>) -> !v
    call @forward_region_0(%1, %t, %a) : (!v, !v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Half of the memory in which the operand lies.
!v = !torch.vtensor<[32,32],f32>
!h = !torch.vtensor<[16,32],f32>
!m = !torch.tensor<[16,32],f32>
!q = !dovetail.ref<!h, strided<[32, 1]>>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @forward(%x: !r) -> !q attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %size = torch.constant.int 16
    %h = torch.aten.slice.Tensor %1, %zero, %zero, %size, %one : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    // expected-error @+1 {{'dovetail.reuse' op shares memory with a result, but it is not all of '!torch.tensor<[16,32],f32>' row by row}}
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @forward_region_0(%h, %a) : (!h, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !h
    %o = "dovetail.own"(%2) {requires_grad = false} : (!h) -> !q
    return %o : !q
  }
  func.func private @forward_region_0(%x: !h, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !h -> !h
    torch.overwrite.tensor.contents %0 overwrites %a : !h, !m
    return
  }
}

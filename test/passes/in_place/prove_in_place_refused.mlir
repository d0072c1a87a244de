// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --split-input-file | FileCheck %s
//
// Catches an update in place that a rule forbids: each module breaks one, and says so at the write.

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "autograd follows the write"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "tracked"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "it is written through a view"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    %1 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r
    "dovetail.write"(%0, %1) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!s = !dovetail.ref<!v, strided<[2]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its memory is not contiguous"
  func.func @call(%x: !s, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!s, !r) -> ()
    %0 = call @forward(%x, %y) : (!s, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !s) -> ()
    return
  }
  func.func private @guard(!s {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !s, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!s) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "the caller changes it more than once"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [2, 1]} : (!r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its new value is not a result of the forward"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%y, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its new value is handed out too"
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return %0 : !r
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "no guard keeps other arguments off its memory"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "no guard keeps other arguments off its memory"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%y, %x) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "it shares memory with another argument"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x", dovetail.group = 0 : i64, dovetail.start = 0 : i64}, !r {dovetail.name = "y", dovetail.group = 0 : i64, dovetail.start = 16 : i64}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its old value is handed out or saved"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !v)
    "dovetail.write"(%0#0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !v) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its new value is not computed by a region"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %3 = torch.operator "torch.aten.mm"(%2, %2) {dovetail.reason = "library kernel: contraction"} : (!v, !v) -> !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its new value is not computed element by element"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.flip %x, %dims : !v, !torch.list<int> -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its old value is read through a view"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.conj_physical"(%0) {dovetail.fallback, dovetail.reason = "no rule"} : (!v) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],si64>
!m = !torch.tensor<[4],si64>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "IREE can't compile a region that reads and writes one memory of type int64"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a) : (!v, !v, !m) -> ()
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

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its new value is needed elsewhere too, and a copy is cheaper than computing it twice"
  func.func @call(%x: !r, %y: !r, %z: !r) -> !r attributes {dovetail.role = "call"} {
    call @guard(%x, %y, %z) : (!r, !r, !r) -> ()
    %0:2 = call @forward(%x, %y, %z) : (!r, !r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#1 : !r
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}, !r {dovetail.name = "z"})
      attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r, %z: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = "dovetail.read"(%z) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %2, %a, %b) : (!v, !v, !v, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %z: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    %1 = torch.aten.mul.Tensor %0, %z : !v, !v -> !v
    %2 = torch.aten.exp %1 : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %b : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its old value is still needed when its new one is"
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    // CHECK: dovetail.in_place = "not read"
    "dovetail.write"(%0#1, %y) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a, %b) : (!v, !v, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %y : !v -> !v
    %1 = torch.aten.neg %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    return
  }
}

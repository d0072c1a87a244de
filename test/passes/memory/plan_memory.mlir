// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory,plan-memory,verify-memory' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory' --split-input-file --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='plan-memory' --split-input-file --remarks -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
//
// Catches memory that is not used again once it is dead; memory that is, while a view of it is still needed, while a
// custom op may have kept it, or for the user's result though it is larger; and a plan that is not replaced by a new one.
// Regions transpose what they read, so that no result may lie where an operand lies: shared_memory.mlir has those that do.

// Dead memory of the same size becomes the third region's result: that of the first, whose view %t died with %2. The
// result itself is not freed, nor is the argument.
// REMARK: remark: @forward allocates 8192 bytes in 2 blocks, 4096 more bytes lie in 1 reused ones; 0 are saved between forward and backward; at most 8192 are held, at loc(
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[A:.*]] = "dovetail.alloc"
  // CHECK: call @forward_region_0(
  // CHECK: %[[B:.*]] = "dovetail.alloc"
  // CHECK: call @forward_region_0(
  // CHECK-NOT: dovetail.free
  // CHECK: %[[C:.*]] = "dovetail.reuse"(%[[A]]) : (!torch.tensor<[32,32],f32>) -> !torch.tensor<[32,32],f32>
  // CHECK-NEXT: call @forward_region_0(%{{.*}}, %[[C]])
  // CHECK-NEXT: "dovetail.free"(%[[B]])
  // CHECK-NOT: dovetail.free
  // CHECK: return
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %t = torch.aten.transpose.int %1, %zero, %one : !v, !torch.int, !torch.int -> !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%t, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %c = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%2, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.exp %t : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// The first region's memory is not used again: a view of it is handed to the last region. Nor is the second's, which
// a custom op may have kept.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[A:.*]] = "dovetail.alloc"
  // CHECK: %[[B:.*]] = "dovetail.alloc"
  // CHECK: torch.operator "torch.aten.sinc"
  // CHECK-NOT: dovetail.reuse
  // CHECK: return
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %0, %a) : (!v, !v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %t = torch.aten.transpose.int %1, %zero, %one : !v, !torch.int, !torch.int -> !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%1, %1, %b) : (!v, !v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %3 = torch.operator "torch.aten.sinc"(%2) {dovetail.reason = "stands for a custom op"} : (!v) -> !v
    %c = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%t, %3, %c) : (!v, !v, !m) -> ()
    %4 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %u = torch.aten.transpose.int %y, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.mul.Tensor %t, %u : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A product's memory is used again for another shape and type. What the user gets lies in memory of its own size: the
// last result does not take the 4096 bytes that are dead by then. Nor does what is smaller than a page.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!w = !torch.vtensor<[32,16],f64>
!n = !torch.tensor<[32,16],f64>
!s = !torch.vtensor<[32,16],f32>
!k = !torch.tensor<[32,16],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!q = !dovetail.ref<!s, strided<[16, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !q attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !q
    return %0 : !q
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[A:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[B:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[C:.*]] = "dovetail.reuse"(%[[A]]) : (!torch.vtensor<[32,32],f32>) -> !torch.tensor<[32,16],f64>
  // CHECK: call @forward_region_0(%[[B]], %[[C]])
  // CHECK: "dovetail.free"(%[[B]])
  // CHECK: %[[D:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[32,16],f32>
  // CHECK: call @forward_region_1({{.*}}%[[D]])
  // CHECK: "dovetail.free"(%[[C]])
  // CHECK-NOT: dovetail.free
  // CHECK: return
  func.func @forward(%x: !r) -> !q attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "library kernel: contraction"} : (!v, !v) -> !v
    %2 = torch.operator "torch.aten.mm"(%1, %0) {dovetail.reason = "library kernel: contraction"} : (!v, !v) -> !v
    %a = "dovetail.alloc"() : () -> !n
    call @forward_region_0(%2, %a) : (!v, !n) -> ()
    %3 = torch.copy.to_vtensor %a : !w
    %b = "dovetail.alloc"() : () -> !k
    call @forward_region_1(%3, %b) : (!w, !k) -> ()
    %4 = torch.copy.to_vtensor %b : !s
    %o = "dovetail.own"(%4) {requires_grad = false} : (!s) -> !q
    return %o : !q
  }
  func.func private @forward_region_0(%x: !v, %a: !n) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %zero = torch.constant.int 0
    %sixteen = torch.constant.int 16
    %false = torch.constant.bool false
    %none = torch.constant.none
    %seven = torch.constant.int 7
    %0 = torch.aten.slice.Tensor %x, %one, %zero, %sixteen, %one : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    %1 = torch.aten._to_copy %0, %seven, %none, %none, %none, %false, %none : !s, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !w
    torch.overwrite.tensor.contents %1 overwrites %a : !w, !n
    return
  }
  func.func private @forward_region_1(%x: !w, %a: !k) attributes {dovetail.role = "region"} {
    %false = torch.constant.bool false
    %none = torch.constant.none
    %six = torch.constant.int 6
    %0 = torch.aten._to_copy %x, %six, %none, %none, %none, %false, %none : !w, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !s
    torch.overwrite.tensor.contents %0 overwrites %a : !s, !k
    return
  }
}

// -----

// A saved value's memory becomes the gradient's, and says so; so it is not freed.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func private @apply(!r) -> !r attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a, %b) : (!v, !m, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %2 : !r, !v
  }
  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: %[[S:[a-z0-9]+]]: !torch.vtensor<[32,32],f32> {dovetail.donated}, %[[T:[a-z0-9]+]]: !dovetail.ref
  // CHECK: %[[A:.*]] = "dovetail.alloc"
  // CHECK-NEXT: call @backward_region_0({{.*}}, %[[S]], %[[A]])
  // CHECK: %[[B:.*]] = "dovetail.reuse"(%[[S]])
  // CHECK: call @backward_region_1({{.*}}, %[[B]])
  // CHECK-NEXT: "dovetail.free"(%[[A]])
  // CHECK-NOT: dovetail.free
  // CHECK: return
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @backward_region_0(%0, %s, %a) : (!v, !v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @backward_region_1(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    return %2 : !v
  }
  func.func private @forward_region_0(%x: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    %1 = torch.aten.cos %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    return
  }
  func.func private @backward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %y, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.mul.Tensor %x, %t : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  func.func private @backward_region_1(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.neg %t : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Memory that would wait beside a product of the same size is freed: three blocks held instead of two.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[A:.*]] = "dovetail.alloc"
  // CHECK: %[[B:.*]] = torch.operator "torch.aten.exp"
  // CHECK-NEXT: "dovetail.free"(%[[A]])
  // CHECK-NEXT: %[[C:.*]] = torch.operator "torch.aten.exp"(%[[B]])
  // CHECK-NEXT: "dovetail.free"(%[[B]])
  // CHECK-NOT: dovetail.reuse
  // CHECK: return
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.operator "torch.aten.exp"(%1) {dovetail.reason = "test"} : (!v) -> !v
    %3 = torch.operator "torch.aten.exp"(%2) {dovetail.reason = "test"} : (!v) -> !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%3, %b) : (!v, !m) -> ()
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

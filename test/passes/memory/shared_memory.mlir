// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory,plan-memory,verify-memory' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory' --split-input-file --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='plan-memory' --split-input-file --remarks -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
//
// Catches a result in memory of its own though its region reads an operand that dies there, element by element; and one
// that lies where an operand is still needed, where another element of it is, or in part of it.

// The product dies in the region, which reads its rows as those of a cube. So does its result in the next, which the
// user gets: three results in one block.
// REMARK: remark: @forward allocates 0 bytes in 0 blocks, 8192 more bytes lie in 2 reused ones; 0 are saved between forward and backward; at most 4096 are held
!v = !torch.vtensor<[32,32],f32>
!c = !torch.vtensor<[4,8,32],f32>
!w = !torch.vtensor<[32],f32>
!m = !torch.tensor<[4,8,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!s = !dovetail.ref<!w, strided<[1]>>
!q = !dovetail.ref<!c, strided<[256, 32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %w: !s) -> !q attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %w) : (!r, !s) -> !q
    return %0 : !q
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[P:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[A:.*]] = "dovetail.reuse"(%[[P]]) {shared} : (!torch.vtensor<[32,32],f32>) -> !torch.tensor<[4,8,32],f32>
  // CHECK-NEXT: call @forward_region_0(%[[P]], %{{.*}}, %[[A]])
  // CHECK-NEXT: "dovetail.free"(%[[P]])
  // CHECK-NEXT: %[[V:.*]] = torch.copy.to_vtensor %[[A]]
  // CHECK-NEXT: %[[B:.*]] = "dovetail.reuse"(%[[A]]) {shared} : (!torch.tensor<[4,8,32],f32>) -> !torch.tensor<[4,8,32],f32>
  // CHECK-NEXT: call @forward_region_1(%[[V]], %[[B]])
  // CHECK-NEXT: "dovetail.free"(%[[A]])
  // CHECK-NOT: dovetail.free
  // CHECK: return
  func.func @forward(%x: !r, %w: !s) -> !q attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!s) -> !w
    %2 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "library kernel: contraction"} : (!v, !v) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%2, %1, %a) : (!v, !w, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !c
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_1(%3, %b) : (!c, !m) -> ()
    %4 = torch.copy.to_vtensor %b : !c
    %o = "dovetail.own"(%4) {requires_grad = false} : (!c) -> !q
    return %o : !q
  }
  func.func private @forward_region_0(%x: !v, %w: !w, %a: !m) attributes {dovetail.role = "region"} {
    %four = torch.constant.int 4
    %eight = torch.constant.int 8
    %size = torch.constant.int 32
    %0 = torch.aten.mul.Tensor %x, %w : !v, !w -> !v
    %sizes = torch.prim.ListConstruct %four, %eight, %size : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.view %0, %sizes : !v, !torch.list<int> -> !c
    %2 = torch.aten.tanh %1 : !c -> !c
    torch.overwrite.tensor.contents %2 overwrites %a : !c, !m
    return
  }
  func.func private @forward_region_1(%x: !c, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !c -> !c
    torch.overwrite.tensor.contents %0 overwrites %a : !c, !m
    return
  }
}

// -----

// Open sizes are those of the operand.
!v = !torch.vtensor<[?,32],f32>
!w = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[?,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!s = !dovetail.ref<!w, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}, %w: !s) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %x, %w) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!torch.int, !r, !s) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[N:[a-z0-9]+]]: !torch.int
  // CHECK: %[[P:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[A:.*]] = "dovetail.reuse"(%[[P]], %[[N]]) {dovetail.sizes = [{{.*}}], shared} : (!torch.vtensor<[?,32],f32>, !torch.int) -> !torch.tensor<[?,32],f32>
  // CHECK-NEXT: call @forward_region_0(%[[P]], %[[A]])
  // CHECK-NEXT: "dovetail.free"(%[[P]])
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}, %w: !s) -> (!r {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!s) -> !w
    %2 = torch.operator "torch.aten.mm"(%0, %1) {dovetail.reason = "library kernel: contraction", dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!v, !w) -> !v
    %a = "dovetail.alloc"(%n) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : (!torch.int) -> !m
    call @forward_region_0(%2, %a) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %a {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : !v
    %o = "dovetail.own"(%3) {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>], requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}, %a: !m {dovetail.sizes = affine_map<()[s0] -> (s0, 32)>}) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x {dovetail.sizes = [affine_map<()[s0] -> (s0, 32)>]} : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// Nothing is shared where two results need an element, a sum does, or what takes another place; nor of half precision;
// nor beside sums of other operands, which might be kept where the result will lie.
!v = !torch.vtensor<[64,64],f32>
!m = !torch.tensor<[64,64],f32>
!u = !torch.vtensor<[64,64],f16>
!h = !torch.tensor<[64,64],f16>
!r = !dovetail.ref<!v, strided<[64, 1]>>
!q = !dovetail.ref<!u, strided<[64, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !q) -> (!r, !r, !r, !r, !r, !q) attributes {dovetail.role = "call"} {
    %0:6 = call @forward(%x, %y) : (!r, !q) -> (!r, !r, !r, !r, !r, !q)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5 : !r, !r, !r, !r, !r, !q
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: shared
  // CHECK: return
  func.func @forward(%x: !r, %y: !q) -> (!r, !r, !r, !r, !r, !q) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!q) -> !u
    %2 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @twice(%2, %a, %b) : (!v, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %5 = torch.operator "torch.aten.mm"(%3, %4) {dovetail.reason = "test"} : (!v, !v) -> !v
    %c = "dovetail.alloc"() : () -> !m
    call @summed(%5, %c) : (!v, !m) -> ()
    %6 = torch.copy.to_vtensor %c : !v
    %7 = torch.operator "torch.aten.mm"(%6, %4) {dovetail.reason = "test"} : (!v, !v) -> !v
    %d = "dovetail.alloc"() : () -> !m
    call @turned(%7, %d) : (!v, !m) -> ()
    %8 = torch.copy.to_vtensor %d : !v
    %9 = torch.operator "torch.aten.mm"(%1, %1) {dovetail.reason = "test"} : (!u, !u) -> !u
    %e = "dovetail.alloc"() : () -> !h
    call @half(%9, %e) : (!u, !h) -> ()
    %10 = torch.copy.to_vtensor %e : !u
    %11 = torch.operator "torch.aten.mm"(%4, %4) {dovetail.reason = "test"} : (!v, !v) -> !v
    %f = "dovetail.alloc"() : () -> !m
    call @beside(%11, %3, %f) : (!v, !v, !m) -> ()
    %12 = torch.copy.to_vtensor %f : !v
    %13 = torch.operator "torch.aten.mm"(%12, %4) {dovetail.reason = "test"} : (!v, !v) -> !v
    %g = "dovetail.alloc"() : () -> !m
    call @scaled(%13, %3, %g) : (!v, !v, !m) -> ()
    %14 = torch.copy.to_vtensor %g : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    %r = "dovetail.own"(%8) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%10) {requires_grad = false} : (!u) -> !q
    %t = "dovetail.own"(%14) {requires_grad = false} : (!v) -> !r
    return %o, %p, %q, %r, %t, %s : !r, !r, !r, !r, !r, !q
  }
  func.func private @twice(%x: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    %1 = torch.aten.cos %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    return
  }
  func.func private @summed(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64,1],f32>
    %1 = torch.aten.mul.Tensor %x, %0 : !v, !torch.vtensor<[64,1],f32> -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @beside(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %int1 = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %y, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64,1],f32>
    %1 = torch.aten.add.Tensor %x, %0, %int1 : !v, !torch.vtensor<[64,1],f32>, !torch.int -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @scaled(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %int1 = torch.constant.int 1
    %none = torch.constant.none
    %0 = torch.aten.softmax.int %y, %int1, %none : !v, !torch.int, !torch.none -> !v
    %1 = torch.aten.mul.Tensor %x, %0 : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @turned(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %x, %0 : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @half(%x: !u, %a: !h) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !u -> !u
    torch.overwrite.tensor.contents %0 overwrites %a : !u, !h
    return
  }
}

// -----

// Nor where the operand is needed afterwards, is given twice, is a part of its memory, or the region is kept apart.
!v = !torch.vtensor<[64,64],f32>
!m = !torch.tensor<[64,64],f32>
!h = !torch.vtensor<[32,64],f32>
!k = !torch.tensor<[32,64],f32>
!r = !dovetail.ref<!v, strided<[64, 1]>>
!q = !dovetail.ref<!h, strided<[64, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> (!r, !q) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !q)
    return %0#0, %0#1 : !r, !q
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: shared
  // CHECK: return
  func.func @forward(%x: !r) -> (!r, !q) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.int 32
    %whole = torch.constant.int 64
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @single(%1, %a) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %3 = torch.operator "torch.aten.mm"(%1, %2) {dovetail.reason = "test"} : (!v, !v) -> !v
    %b = "dovetail.alloc"() : () -> !m
    call @double(%3, %3, %b) : (!v, !v, !m) -> ()
    %4 = torch.copy.to_vtensor %b : !v
    %5 = torch.operator "torch.aten.mm"(%4, %2) {dovetail.reason = "test"} : (!v, !v) -> !v
    %6 = torch.aten.slice.Tensor %5, %zero, %half, %whole, %one : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %c = "dovetail.alloc"() : () -> !k
    call @part(%6, %c) : (!h, !k) -> ()
    %7 = torch.copy.to_vtensor %c : !h
    %8 = torch.operator "torch.aten.mm"(%4, %4) {dovetail.reason = "test"} : (!v, !v) -> !v
    %d = "dovetail.alloc"() : () -> !m
    call @apart(%8, %d) : (!v, !m) -> ()
    %9 = torch.copy.to_vtensor %d : !v
    %o = "dovetail.own"(%9) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%7) {requires_grad = false} : (!h) -> !q
    return %o, %p : !r, !q
  }
  func.func private @single(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  func.func private @double(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  func.func private @part(%x: !h, %a: !k) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !h -> !h
    torch.overwrite.tensor.contents %0 overwrites %a : !h, !k
    return
  }
  func.func private @apart(%x: !v, %a: !m) attributes {dovetail.kept_apart = "no plan", dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// -----

// A saved value that dies in the backward: it says that it is overwritten.
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
  // CHECK: %[[A:.*]] = "dovetail.reuse"(%[[S]]) {shared}
  // CHECK-NEXT: call @backward_region_0({{.*}}, %[[S]], %[[A]])
  // CHECK-NEXT: "dovetail.free"(%[[S]])
  func.func @backward(%s: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @backward_region_0(%0, %s, %a) : (!v, !v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    return %1 : !v
  }
  func.func private @forward_region_0(%x: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    %1 = torch.aten.cos %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    return
  }
  func.func private @backward_region_0(%x: !v, %y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,plan-memory,verify-memory,verify-level{level=regions}' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t --split-input-file
//
// Catches a copy of each argument whose sizes are open, and an update in place of one that may not lie row by row: what
// is known of its strides must be the product of its sizes, in whatever order that stands.

!v = !torch.vtensor<[?,?,?],f32>
!m = !torch.tensor<[?,?,?],f32>
!w = !torch.vtensor<[?],f32>
!n = !torch.tensor<[?],f32>
!r = !dovetail.ref<!v, strided<[?, ?, 1]>>
!s = !dovetail.ref<!w, strided<[1]>>
!int = !torch.int
#s = affine_map<()[s0, s1, s2] -> (s0, s1, s2)>
#rows = affine_map<()[s0, s1, s2] -> (s2 * s1, s2, 1)>
#one = affine_map<()[s0] -> (s0)>
module attributes {dovetail.hints = array<i64: 4, 7, 3>, dovetail.level = "regions"} {
  // CHECK-LABEL: func.func @call(
  // CHECK: "dovetail.write"(%{{.*}}#0, %{{.*}}) {dovetail.in_place = "pointwise", mode = "no_grad"}
  // CHECK: "dovetail.write"(%{{.*}}#1, %{{.*}}) {dovetail.in_place = "pointwise", mode = "no_grad"}
  // COM: Nothing is known of its strides.
  // CHECK: "dovetail.write"(%{{.*}}#2, %{{.*}}) {dovetail.not_in_place = "its memory may not be contiguous", mode = "no_grad"}
  func.func @call(%a: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64}, %c: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 2 : i64}, %x: !r {dovetail.sizes = #s, dovetail.strides = #rows}, %y: !s {dovetail.sizes = #one}, %z: !r {dovetail.sizes = #s}) attributes {dovetail.role = "call"} {
    call @guard(%x, %y, %z) : (!r, !s, !r) -> ()
    %0:3 = call @forward(%a, %b, %c, %x, %y, %z) : (!int, !int, !int, !r, !s, !r) -> (!r, !s, !r)
    "dovetail.write"(%0#0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %y) {mode = "no_grad"} : (!s, !s) -> ()
    "dovetail.write"(%0#2, %z) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !s {dovetail.name = "y"}, !r {dovetail.name = "z"}) attributes {dovetail.mutated = 3 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // COM: What it starts from is computed first, in memory of the same sizes, which the region is told.
  // CHECK: %[[FLIPPED:.*]] = "dovetail.alloc"(
  // CHECK: call @forward_region_0(
  // CHECK: %[[INTO_X:.*]] = "dovetail.destination"(%{{.*}}) {dovetail.sizes = [#[[S:.*]]], proof = "pointwise"}
  // CHECK: %[[INTO_Y:.*]] = "dovetail.destination"(%{{.*}}) {dovetail.sizes = [#[[ONE:.*]]], proof = "pointwise"}
  // CHECK: call @forward_update_0(%{{.*}}, %[[INTO_X]], %[[INTO_Y]])
  func.func @forward(%a: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64}, %c: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 2 : i64}, %x: !r {dovetail.sizes = #s, dovetail.strides = #rows}, %y: !s {dovetail.sizes = #one}, %z: !r {dovetail.sizes = #s}) -> (!r, !s, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#one]} : (!s) -> !w
    %2 = "dovetail.read"(%z) {dovetail.sizes = [#s]} : (!r) -> !v
    %d = "dovetail.alloc"(%a, %b, %c) : (!int, !int, !int) -> !m
    %e = "dovetail.alloc"(%a) : (!int) -> !n
    %f = "dovetail.alloc"(%a, %b, %c) : (!int, !int, !int) -> !m
    call @forward_region_0(%0, %1, %2, %d, %e, %f) : (!v, !w, !v, !m, !n, !m) -> ()
    %3 = torch.copy.to_vtensor %d {dovetail.sizes = [#s]} : !v
    %4 = torch.copy.to_vtensor %e {dovetail.sizes = [#one]} : !w
    %5 = torch.copy.to_vtensor %f {dovetail.sizes = [#s]} : !v
    %bc = torch.aten.mul.int %b, %c : !int, !int -> !int
    %o = "dovetail.own"(%3, %bc, %c) {requires_grad = false} : (!v, !int, !int) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!w) -> !s
    %p = "dovetail.own"(%5, %bc, %c) {requires_grad = false} : (!v, !int, !int) -> !r
    return %o, %q, %p : !r, !s, !r
  }
  // CHECK: func.func private @forward_update_0(%{{[a-z0-9]+}}: !torch.vtensor<[?,?,?],f32> {dovetail.sizes = #[[S]]}, %{{[a-z0-9]+}}: !torch.tensor<[?,?,?],f32> {dovetail.sizes = #[[S]]}, %{{[a-z0-9]+}}: !torch.tensor<[?],f32> {dovetail.sizes = #[[ONE]]})
  func.func private @forward_region_0(%x: !v {dovetail.sizes = #s}, %y: !w {dovetail.sizes = #one}, %z: !v {dovetail.sizes = #s}, %d: !m {dovetail.sizes = #s}, %e: !n {dovetail.sizes = #one}, %f: !m {dovetail.sizes = #s}) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.flip %x, %dims {dovetail.sizes = [#s]} : !v, !torch.list<int> -> !v
    %1 = torch.aten.mul.Tensor %x, %0 {dovetail.sizes = [#s]} : !v, !v -> !v
    %2 = torch.aten.exp %y {dovetail.sizes = [#one]} : !w -> !w
    %3 = torch.aten.neg %z {dovetail.sizes = [#s]} : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %e : !w, !n
    torch.overwrite.tensor.contents %3 overwrites %f : !v, !m
    return
  }
}

// -----

// COM: Its steps are those of another order of its dimensions; what is made anew lies row by row.
!v = !torch.vtensor<[?,?],f32>
!m = !torch.tensor<[?,?],f32>
!r = !dovetail.ref<!v, strided<[?, ?]>>
!o = !dovetail.ref<!v, strided<[?, 1]>>
!int = !torch.int
#s = affine_map<()[s0, s1] -> (s0, s1)>
module attributes {dovetail.level = "regions"} {
  // CHECK: dovetail.not_in_place = "its memory may not be contiguous"
  func.func @call(%a: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64}, %x: !r {dovetail.sizes = #s, dovetail.strides = affine_map<()[s0, s1] -> (s1, s0)>}) attributes {dovetail.role = "call"} {
    %0 = call @forward(%a, %b, %x) : (!int, !int, !r) -> !o
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!o, !r) -> ()
    return
  }
  func.func @forward(%a: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64}, %x: !r {dovetail.sizes = #s}) -> !o attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %d = "dovetail.alloc"(%a, %b) : (!int, !int) -> !m
    call @forward_region_0(%0, %d) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %d {dovetail.sizes = [#s]} : !v
    %o = "dovetail.own"(%1, %b) {requires_grad = false} : (!v, !int) -> !o
    return %o : !o
  }
  func.func private @forward_region_0(%x: !v {dovetail.sizes = #s}, %d: !m {dovetail.sizes = #s}) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x {dovetail.sizes = [#s]} : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %d : !v, !m
    return
  }
}

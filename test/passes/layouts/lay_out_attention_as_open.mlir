// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' | FileCheck %s
//
// Catches gradients of attention over an open length that are copied, as the kernel lays each out in the order in which it is
// given that tensor: strides that are stated by symbols tell it, too. Keys that lie in rows stay, as do values that are a
// part of larger memory: of open strides nobody sees which dimension lies outside.
// COM: No CPU has this kernel; `test/devices/test_attention.py` compares what it gives.

!v = !torch.vtensor<[2,4,?,16],bf16>
!l = !torch.vtensor<[2,4,?,1],f32>
!n = !torch.vtensor<[],si64>
!rv = !dovetail.ref<!v, strided<[?, ?, 16, 1]>>
!rl = !dovetail.ref<!l, strided<[?, ?, 1, 1]>>
!rn = !dovetail.ref<!n, strided<[]>>
#v = affine_map<()[s0] -> (2, 4, s0, 16)>
#l = affine_map<()[s0] -> (2, 4, s0, 1)>
#rows = affine_map<()[s0] -> (s0 * 64, s0 * 16, 16, 1)>
#heads = affine_map<()[s0] -> (s0 * 64, 16, 64, 1)>
#part = affine_map<()[s0] -> (s0 * 192, 16, 192, 1)>
#of_l = affine_map<()[s0] -> (s0 * 4, s0, 1, 1)>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.hints = array<i64: 8>} {
  // CHECK-DAG: #[[V:.*]] = affine_map<()[s0] -> (2, 4, s0, 16)>
  // CHECK-DAG: #[[H:.*]] = affine_map<()[s0] -> (2, s0, 4, 16)>
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%length: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 9>}, %q: !rv {dovetail.sizes = #v}, %l: !rl {dovetail.sizes = #l}, %i: !rn) -> (!rv, !rv, !rv) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %8 = torch.constant.int 8
    %16 = torch.constant.int 16
    %4 = torch.constant.int 4
    %x = "dovetail.read"(%q) {dovetail.sizes = [#v]} : (!rv) -> !v
    %m = "dovetail.read"(%l) {dovetail.sizes = [#l]} : (!rl) -> !l
    %s = "dovetail.read"(%i) : (!rn) -> !n
    // CHECK: %[[GRADIENTS:.*]]:3 = torch.operator
    // CHECK: %[[ROWS:.*]] = torch.aten.permute %[[GRADIENTS]]#0, %{{.*}} {dovetail.shows_rows, dovetail.sizes = [#[[H]]]}
    // CHECK: %[[SHOWN:.*]] = torch.aten.permute %[[ROWS]], %{{.*}} {dovetail.sizes = [#[[V]]]}
    // CHECK: torch.aten.exp %[[SHOWN]]
    // CHECK-NEXT: torch.aten.exp %[[GRADIENTS]]#1
    // CHECK-NEXT: torch.aten.exp %[[GRADIENTS]]#2
    %g:3 = torch.operator "torch.aten._scaled_dot_product_cudnn_attention_backward"(%x, %x, %x, %x, %x, %m, %s, %s, %none, %none, %none, %8, %8, %zero, %false, %none)
        {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.sizes = [#v, #v, #v], dovetail.strides = [#rows, #heads, #rows, #part, #rows, #of_l, array<i64>, array<i64>, unit, unit, unit, unit, unit, unit, unit, unit]}
        : (!v, !v, !v, !v, !v, !l, !n, !n, !torch.none, !torch.none, !torch.none, !torch.int, !torch.int, !torch.float, !torch.bool, !torch.none) -> (!v, !v, !v)
    %a = torch.aten.exp %g#0 {dovetail.sizes = [#v]} : !v -> !v
    %b = torch.aten.exp %g#1 {dovetail.sizes = [#v]} : !v -> !v
    %c = torch.aten.exp %g#2 {dovetail.sizes = [#v]} : !v -> !v
    %inner = torch.aten.mul.int %length, %16 : !torch.int, !torch.int -> !torch.int
    %outer = torch.aten.mul.int %inner, %4 : !torch.int, !torch.int -> !torch.int
    %o = "dovetail.own"(%a, %outer, %inner) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !rv
    %p = "dovetail.own"(%b, %outer, %inner) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !rv
    %r = "dovetail.own"(%c, %outer, %inner) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !rv
    return %o, %p, %r : !rv, !rv, !rv
  }
}

// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' --run-check -o %t
//
// Catches gradients of attention over an open length that are copied for each region that takes them.

!v = !torch.vtensor<[2,4,?,16],f32>
!l = !torch.vtensor<[2,4,?],f32>
!rv = !dovetail.ref<!v, strided<[?, ?, 16, 1]>>
!rl = !dovetail.ref<!l, strided<[?, 1, 4]>>
#v = affine_map<()[s0] -> (2, 4, s0, 16)>
#l = affine_map<()[s0] -> (2, 4, s0)>

module attributes {dovetail.level = "joint", dovetail.hints = array<i64: 8>} {
  // CHECK-DAG: #[[V:.*]] = affine_map<()[s0] -> (2, 4, s0, 16)>
  // CHECK-DAG: #[[H:.*]] = affine_map<()[s0] -> (2, s0, 4, 16)>
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 9>}, %q: !rv {dovetail.sizes = #v}, %l: !rl {dovetail.sizes = #l}) -> !rv attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %16 = torch.constant.int 16
    %4 = torch.constant.int 4
    %x = "dovetail.read"(%q) {dovetail.sizes = [#v]} : (!rv) -> !v
    %m = "dovetail.read"(%l) {dovetail.sizes = [#l]} : (!rl) -> !l
    // CHECK: %[[GRADIENTS:.*]]:3 = torch.operator
    // CHECK: %[[ROWS:.*]] = torch.aten.permute %[[GRADIENTS]]#0, %{{.*}} {dovetail.shows_rows, dovetail.sizes = [#[[H]]]}
    // CHECK: %[[SHOWN:.*]] = torch.aten.permute %[[ROWS]], %{{.*}} {dovetail.sizes = [#[[V]]]}
    // CHECK: torch.aten.exp %[[SHOWN]]
    %g:3 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu_backward"(%x, %x, %x, %x, %x, %m, %zero, %false, %none, %none)
        {dovetail.reason = "a test", dovetail.sizes = [#v, #v, #v]}
        : (!v, !v, !v, !v, !v, !l, !torch.float, !torch.bool, !torch.none, !torch.none) -> (!v, !v, !v)
    %e = torch.aten.exp %g#0 {dovetail.sizes = [#v]} : !v -> !v
    %inner = torch.aten.mul.int %n, %16 : !torch.int, !torch.int -> !torch.int
    %outer = torch.aten.mul.int %inner, %4 : !torch.int, !torch.int -> !torch.int
    %o = "dovetail.own"(%e, %outer, %inner) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !rv
    return %o : !rv
  }
}

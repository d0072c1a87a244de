// RUN: dovetail-opt %s --pass-pipeline='lay-out-stated,verify-level{level=joint}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-stated' --run-check -o %t
//
// Catches a tensor of open sizes that a region copies after the host has copied it: of such the host makes the views.

!v = !torch.vtensor<[2,4,?,64],f32>
!rv = !dovetail.ref<!v, strided<[?, ?, 64, 1]>>
#v = affine_map<()[s0] -> (2, 4, s0, 64)>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.hints = array<i64: 256>} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 512>}, %q: !rv {dovetail.sizes = #v}) -> !rv attributes {dovetail.role = "joint"} {
    %64 = torch.constant.int 64
    %4 = torch.constant.int 4
    %x = "dovetail.read"(%q) {dovetail.sizes = [#v]} : (!rv) -> !v
    // CHECK: %[[SINE:.*]] = torch.aten.sin
    // CHECK-NEXT: torch.operator "torch.aten.msort"(%[[SINE]])
    %s = torch.aten.sin %x {dovetail.sizes = [#v]} : !v -> !v
    %o = torch.operator "torch.aten.msort"(%s) {dovetail.reason = "a test", dovetail.sizes = [#v], dovetail.strides = [affine_map<()[s0] -> (s0 * 256, 64, 256, 1)>]} : (!v) -> !v
    %inner = torch.aten.mul.int %n, %64 : !torch.int, !torch.int -> !torch.int
    %outer = torch.aten.mul.int %inner, %4 : !torch.int, !torch.int -> !torch.int
    %r = "dovetail.own"(%o, %outer, %inner) {requires_grad = false} : (!v, !torch.int, !torch.int) -> !rv
    return %r : !rv
  }
}

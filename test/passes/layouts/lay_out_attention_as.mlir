// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' | FileCheck %s
//
// Catches gradients of queries that are copied, as the kernel lays each gradient out in the order in which it is given that
// tensor, also if it is a part of a larger one. Keys that lie in rows stay, as do values of which heads share elements.
// COM: No CPU has this kernel; `test/devices/test_attention.py` compares what it gives.

!v = !torch.vtensor<[2,4,8,16],bf16>
!l = !torch.vtensor<[2,4,8,1],f32>
!n = !torch.vtensor<[],si64>
!rv = !dovetail.ref<!v, strided<[512, 128, 16, 1]>>
!rl = !dovetail.ref<!l, strided<[32, 8, 1, 1]>>
!rn = !dovetail.ref<!n, strided<[]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%q: !rv, %l: !rl, %i: !rn) -> (!rv, !rv, !rv) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %8 = torch.constant.int 8
    %x = "dovetail.read"(%q) : (!rv) -> !v
    %m = "dovetail.read"(%l) : (!rl) -> !l
    %s = "dovetail.read"(%i) : (!rn) -> !n
    // CHECK: %[[GRADIENTS:.*]]:3 = torch.operator
    // CHECK-NEXT: torch.constant.int 0
    // CHECK: %[[ROWS:.*]] = torch.aten.permute %[[GRADIENTS]]#0, %{{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[2,8,4,16],bf16>
    // CHECK: %[[SHOWN:.*]] = torch.aten.permute %[[ROWS]], %{{.*}} -> !torch.vtensor<[2,4,8,16],bf16>
    // CHECK-NEXT: torch.aten.exp %[[SHOWN]]
    // CHECK-NEXT: torch.aten.exp %[[GRADIENTS]]#1
    // CHECK-NEXT: torch.aten.exp %[[GRADIENTS]]#2
    %g:3 = torch.operator "torch.aten._scaled_dot_product_cudnn_attention_backward"(%x, %x, %x, %x, %x, %m, %s, %s, %none, %none, %none, %8, %8, %zero, %false, %none)
        {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.strides = [array<i64: 512, 128, 16, 1>, array<i64: 1536, 16, 192, 1>, array<i64: 512, 128, 16, 1>, array<i64: 128, 0, 16, 1>, array<i64: 512, 128, 16, 1>, array<i64: 32, 8, 1, 1>, array<i64>, array<i64>, unit, unit, unit, unit, unit, unit, unit, unit]}
        : (!v, !v, !v, !v, !v, !l, !n, !n, !torch.none, !torch.none, !torch.none, !torch.int, !torch.int, !torch.float, !torch.bool, !torch.none) -> (!v, !v, !v)
    %a = torch.aten.exp %g#0 : !v -> !v
    %b = torch.aten.exp %g#1 : !v -> !v
    %c = torch.aten.exp %g#2 : !v -> !v
    %o = "dovetail.own"(%a) {requires_grad = false} : (!v) -> !rv
    %p = "dovetail.own"(%b) {requires_grad = false} : (!v) -> !rv
    %r = "dovetail.own"(%c) {requires_grad = false} : (!v) -> !rv
    return %o, %p, %r : !rv, !rv, !rv
  }
}

// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' --run-check -o %t
//
// Catches gradients of attention that are copied for each region that takes them: its kernel lays heads beside each other.

!v = !torch.vtensor<[2,4,8,16],f32>
!l = !torch.vtensor<[2,8,4],f32>
!h = !torch.vtensor<[2,8,4,16],f32>
!rv = !dovetail.ref<!v, strided<[512, 128, 16, 1]>>
!rh = !dovetail.ref<!h, strided<[512, 64, 16, 1]>>
!rl = !dovetail.ref<!torch.vtensor<[2,4,8],f32>, strided<[32, 1, 4]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%q: !rv, %l: !rl) -> (!rv, !rh, !rv) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %order = torch.prim.ListConstruct %0, %2, %1, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%q) : (!rv) -> !v
    %m = "dovetail.read"(%l) : (!rl) -> !torch.vtensor<[2,4,8],f32>
    // CHECK: %[[GRADIENTS:.*]]:3 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu_backward"
    // COM: Nothing uses the last gradient.
    // CHECK-NOT: permute %[[GRADIENTS]]#2
    // CHECK-DAG: %[[ROWS:.*]] = torch.aten.permute %[[GRADIENTS]]#0, %{{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[2,8,4,16],f32>
    // CHECK-DAG: %[[SHOWN:.*]] = torch.aten.permute %[[ROWS]], %{{.*}} -> !torch.vtensor<[2,4,8,16],f32>
    // CHECK-DAG: %[[OTHERS:.*]] = torch.aten.permute %[[GRADIENTS]]#1, %{{.*}} {dovetail.shows_rows}
    %g:3 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu_backward"(%x, %x, %x, %x, %x, %m, %zero, %false, %none, %none)
        {dovetail.reason = "a test"}
        : (!v, !v, !v, !v, !v, !torch.vtensor<[2,4,8],f32>, !torch.float, !torch.bool, !torch.none, !torch.none) -> (!v, !v, !v)
    // CHECK: torch.aten.mul.Tensor %[[SHOWN]], %[[SHOWN]]
    %4 = torch.aten.mul.Tensor %g#0, %g#0 : !v, !v -> !v
    // COM: What shows the rows already is them.
    // CHECK: torch.aten.exp %[[OTHERS]]
    %5 = torch.aten.permute %g#1, %order : !v, !torch.list<int> -> !h
    %6 = torch.aten.exp %5 : !h -> !h
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !rv
    %p = "dovetail.own"(%6) {requires_grad = false} : (!h) -> !rh
    %u = "dovetail.own"(%x) {requires_grad = false} : (!v) -> !rv
    return %o, %p, %u : !rv, !rh, !rv
  }
}

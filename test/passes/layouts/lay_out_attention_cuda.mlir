// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-attention' --run-check -o %t
//
// Catches the gradient of keys that several heads share, added up by a GPU's region in another order than that of memory,
// for which it is permuted first: a view that splits dimensions splits those in memory. What joins some stays behind.

!v = !torch.vtensor<[2,4,8,16],f32>
!g = !torch.vtensor<[2,2,2,8,16],f32>
!j = !torch.vtensor<[8,2,4,16],f32>
!l = !torch.vtensor<[2,8,4],f32>
!rv = !dovetail.ref<!v, strided<[512, 128, 16, 1]>>
!rg = !dovetail.ref<!g, strided<[512, 256, 128, 16, 1]>>
!rj = !dovetail.ref<!j, strided<[128, 64, 16, 1]>>
!rl = !dovetail.ref<!torch.vtensor<[2,4,8],f32>, strided<[32, 1, 4]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%q: !rv, %l: !rl) -> (!rg, !rj) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %zero = torch.constant.float 0.000000e+00
    %false = torch.constant.bool false
    %2 = torch.constant.int 2
    %4 = torch.constant.int 4
    %8 = torch.constant.int 8
    %16 = torch.constant.int 16
    %parts = torch.prim.ListConstruct %2, %2, %2, %8, %16 : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %joined = torch.prim.ListConstruct %8, %2, %4, %16 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%q) : (!rv) -> !v
    %m = "dovetail.read"(%l) : (!rl) -> !torch.vtensor<[2,4,8],f32>
    // CHECK: %[[GRADIENTS:.*]]:3 = torch.operator
    // CHECK-DAG: %[[ROWS:.*]] = torch.aten.permute %[[GRADIENTS]]#0, %{{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[2,8,4,16],f32>
    // CHECK-DAG: %[[OTHERS:.*]] = torch.aten.permute %[[GRADIENTS]]#1, %{{.*}} {dovetail.shows_rows}
    // CHECK-DAG: %[[BACK:.*]] = torch.aten.permute %[[OTHERS]], %{{.*}} -> !torch.vtensor<[2,4,8,16],f32>
    // CHECK: %[[SPLIT:.*]] = torch.aten.view %[[ROWS]], %{{.*}} -> !torch.vtensor<[2,8,2,2,16],f32>
    // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[SPLIT]], %{{.*}} -> !torch.vtensor<[2,2,2,8,16],f32>
    // CHECK: torch.aten.exp %[[TURNED]]
    %g:3 = torch.operator "torch.aten._scaled_dot_product_flash_attention_for_cpu_backward"(%x, %x, %x, %x, %x, %m, %zero, %false, %none, %none)
        {dovetail.reason = "a test"}
        : (!v, !v, !v, !v, !v, !torch.vtensor<[2,4,8],f32>, !torch.float, !torch.bool, !torch.none, !torch.none) -> (!v, !v, !v)
    %a = torch.aten.view %g#0, %parts : !v, !torch.list<int> -> !g
    %b = torch.aten.exp %a : !g -> !g
    // CHECK: torch.aten.reshape %[[BACK]],
    %c = torch.aten.reshape %g#1, %joined : !v, !torch.list<int> -> !j
    %d = torch.aten.exp %c : !j -> !j
    %o = "dovetail.own"(%b) {requires_grad = false} : (!g) -> !rg
    %p = "dovetail.own"(%d) {requires_grad = false} : (!j) -> !rj
    return %o, %p : !rg, !rj
  }
}

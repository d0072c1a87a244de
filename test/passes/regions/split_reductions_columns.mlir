// RUN: dovetail-opt %s --pass-pipeline='split-reductions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='split-reductions,lower-regions' --run-check -o %t
//
// Catches a sum of columns in float64 over several dimensions that one thread adds up, and one whose parts would be as
// much memory as what is added up.

!x = !torch.vtensor<[8,16,32],f32>
!s = !torch.vtensor<[64,2,32],f32>
!r = !torch.vtensor<[1,1,32],f64>
!ref = !dovetail.ref<!r, strided<[32, 32, 1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !dovetail.ref<!x, strided<[512, 32, 1]>>, %s: !dovetail.ref<!s, strided<[64, 32, 1]>>) -> (!ref, !ref) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x, %s) : (!dovetail.ref<!x, strided<[512, 32, 1]>>, !dovetail.ref<!s, strided<[64, 32, 1]>>) -> (!ref, !ref)
    return %0#0, %0#1 : !ref, !ref
  }
  func.func @forward(%x: !dovetail.ref<!x, strided<[512, 32, 1]>>, %s: !dovetail.ref<!s, strided<[64, 32, 1]>>) -> (!ref, !ref) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!dovetail.ref<!x, strided<[512, 32, 1]>>) -> !x
    %1 = "dovetail.read"(%s) : (!dovetail.ref<!s, strided<[64, 32, 1]>>) -> !s
    %2:2 = call @forward_region_0(%0, %1) : (!x, !s) -> (!r, !r)
    %o = "dovetail.own"(%2#0) {requires_grad = false} : (!r) -> !ref
    %p = "dovetail.own"(%2#1) {requires_grad = false} : (!r) -> !ref
    return %o, %p : !ref, !ref
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[8,16,32],f32>, %[[S:[a-z0-9]+]]: !torch.vtensor<[64,2,32],f32>
  func.func private @forward_region_0(%x: !x, %s: !s) -> (!r, !r) attributes {dovetail.role = "region"} {
    %true = torch.constant.bool true
    %double = torch.constant.int 7
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %rows = torch.prim.ListConstruct %int0, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
    // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList %[[X]], %{{.*}} -> !torch.vtensor<[8,32],f64>
    // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[PARTS]], %{{.*}} -> !torch.vtensor<[32],f64>
    // CHECK: torch.aten.reshape %[[SUM]], %{{.*}} -> !torch.vtensor<[1,1,32],f64>
    %0 = torch.aten.sum.dim_IntList %x, %rows, %true, %double : !x, !torch.list<int>, !torch.bool, !torch.int -> !r
    // CHECK: torch.aten.sum.dim_IntList %[[S]], %{{.*}} -> !torch.vtensor<[1,1,32],f64>
    %1 = torch.aten.sum.dim_IntList %s, %rows, %true, %double : !s, !torch.list<int>, !torch.bool, !torch.int -> !r
    return %0, %1 : !r, !r
  }
}

// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
//
// Catches reductions on a GPU that one thread would run, or no kernel of ours is good at, in regions; and small ones,
// which cost nothing there, left to ATen. One thread reduces a row by itself that 32 threads do not divide; of a million
// numbers it adds up, five digits are right.

!x = !torch.vtensor<[8192,1024],f32>
!odd = !torch.vtensor<[5003,1001],f32>
!whole = !torch.vtensor<[65536],si64>
!few = !torch.vtensor<[64],si64>
!alone = !torch.vtensor<[1,999983],f32>
!long = !torch.vtensor<[7,65537],f32>
!even = !torch.vtensor<[1,131072],f32>
!image = !torch.vtensor<[32,64,28,28],f32>
module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%xr: !dovetail.ref<!x, strided<[1024, 1]>>, %or: !dovetail.ref<!odd, strided<[1001, 1]>>, %wr: !dovetail.ref<!whole, strided<[1]>>, %fr: !dovetail.ref<!few, strided<[1]>>, %ir: !dovetail.ref<!image, strided<[50176, 784, 28, 1]>>, %ar: !dovetail.ref<!alone, strided<[999983, 1]>>, %lr: !dovetail.ref<!long, strided<[65537, 1]>>, %er: !dovetail.ref<!even, strided<[131072, 1]>>) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %int3 = torch.constant.int 3
    %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %apart = torch.prim.ListConstruct %int0, %int2, %int3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%xr) : (!dovetail.ref<!x, strided<[1024, 1]>>) -> !x
    %o = "dovetail.read"(%or) : (!dovetail.ref<!odd, strided<[1001, 1]>>) -> !odd
    %w = "dovetail.read"(%wr) : (!dovetail.ref<!whole, strided<[1]>>) -> !whole
    %f = "dovetail.read"(%fr) : (!dovetail.ref<!few, strided<[1]>>) -> !few
    %i = "dovetail.read"(%ir) : (!dovetail.ref<!image, strided<[50176, 784, 28, 1]>>) -> !image
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "region"} : !torch.vtensor<[8192,1024],f32>
    %0 = torch.aten.sum.dim_IntList %x, %first, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1024],f32>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "region"} : !torch.vtensor<[5003,1001],f32>
    %1 = torch.aten.sum.dim_IntList %o, %last, %false, %none : !odd, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[5003],f32>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces columns but by 16, of 64 rows"}
    %2 = torch.aten.sum.dim_IntList %o, %first, %false, %none : !odd, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1001],f32>
    // CHECK: torch.aten.sum {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "one thread would reduce each row of whole or wide numbers"}
    %3 = torch.aten.sum %w, %none : !whole, !torch.none -> !torch.vtensor<[],si64>
    // CHECK: torch.aten.sum {{.*}} {dovetail.placement = "region"}
    %4 = torch.aten.sum %f, %none : !few, !torch.none -> !torch.vtensor<[],si64>
    // CHECK: torch.aten.cumsum {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "one workgroup computes all of it"}
    %counted = torch.aten.cumsum %w, %int0, %none : !whole, !torch.int, !torch.none -> !whole
    // CHECK: torch.aten.mean.dim {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces dimensions that lie apart"}
    %5 = torch.aten.mean.dim %i, %apart, %false, %none : !image, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
    // CHECK: torch.aten.logsumexp {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "not measured on GPUs"}
    %6 = torch.aten.logsumexp %x, %last, %false : !x, !torch.list<int>, !torch.bool -> !torch.vtensor<[8192],f32>
    %a = "dovetail.read"(%ar) : (!dovetail.ref<!alone, strided<[999983, 1]>>) -> !alone
    %l = "dovetail.read"(%lr) : (!dovetail.ref<!long, strided<[65537, 1]>>) -> !long
    %e = "dovetail.read"(%er) : (!dovetail.ref<!even, strided<[131072, 1]>>) -> !even
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces one row of 999983 numbers"}
    %7 = torch.aten.sum.dim_IntList %a, %last, %false, %none : !alone, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1],f32>
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces one row of 999983 numbers"}
    %8 = torch.aten.amax %a, %last, %false : !alone, !torch.list<int>, !torch.bool -> !torch.vtensor<[1],f32>
    // CHECK: torch.aten._softmax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces rows of 65537 numbers"}
    %9 = torch.aten._softmax %l, %int1, %false : !long, !torch.int, !torch.bool -> !long
    // CHECK: torch.aten._softmax {{.*}} {dovetail.placement = "region"}
    %10 = torch.aten._softmax %e, %int1, %false : !even, !torch.int, !torch.bool -> !even
    return
  }
}

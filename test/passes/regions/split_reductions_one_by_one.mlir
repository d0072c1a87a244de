// RUN: dovetail-opt %s --pass-pipeline='split-reductions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='split-reductions,lower-regions' --run-check -o %t
//
// Catches sums of neighbours that are left whole although IREE adds them up one by one: of negated numbers, of what lies
// turned in memory, and of products that it takes for those of matrices.

!x = !torch.vtensor<[3,256],f32>
!t = !torch.vtensor<[256,3],f32>
!q = !torch.vtensor<[256],f32>
!r = !torch.vtensor<[3],f32>
!ref = !dovetail.ref<!r, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !dovetail.ref<!x, strided<[256, 1]>>, %t: !dovetail.ref<!t, strided<[3, 1]>>, %q: !dovetail.ref<!q, strided<[1]>>) -> (!ref, !ref, !ref, !ref) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %t, %q) : (!dovetail.ref<!x, strided<[256, 1]>>, !dovetail.ref<!t, strided<[3, 1]>>, !dovetail.ref<!q, strided<[1]>>) -> (!ref, !ref, !ref, !ref)
    return %0#0, %0#1, %0#2, %0#3 : !ref, !ref, !ref, !ref
  }
  func.func @forward(%x: !dovetail.ref<!x, strided<[256, 1]>>, %t: !dovetail.ref<!t, strided<[3, 1]>>, %q: !dovetail.ref<!q, strided<[1]>>) -> (!ref, !ref, !ref, !ref) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!dovetail.ref<!x, strided<[256, 1]>>) -> !x
    %1 = "dovetail.read"(%t) : (!dovetail.ref<!t, strided<[3, 1]>>) -> !t
    %2 = "dovetail.read"(%q) : (!dovetail.ref<!q, strided<[1]>>) -> !q
    %3:4 = call @forward_region_0(%0, %1, %2) : (!x, !t, !q) -> (!r, !r, !r, !r)
    %o = "dovetail.own"(%3#0) {requires_grad = false} : (!r) -> !ref
    %p = "dovetail.own"(%3#1) {requires_grad = false} : (!r) -> !ref
    %s = "dovetail.own"(%3#2) {requires_grad = false} : (!r) -> !ref
    %u = "dovetail.own"(%3#3) {requires_grad = false} : (!r) -> !ref
    return %o, %p, %s, %u : !ref, !ref, !ref, !ref
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[3,256],f32>
  func.func private @forward_region_0(%x: !x, %t: !t, %q: !q) -> (!r, !r, !r, !r) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %turn = torch.prim.ListConstruct %int1, %int0 : (!torch.int, !torch.int) -> !torch.list<int>
    // COM: 0 less the sum, since the sum of negated zeros is 0.
    // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[X]], %{{.*}} -> !torch.vtensor<[3],f32>
    // CHECK: %[[ZERO:.*]] = torch.constant.int 0
    // CHECK: torch.aten.rsub.Scalar %[[SUM]], %[[ZERO]], %{{.*}} -> !torch.vtensor<[3],f32>
    %0 = torch.aten.neg %x : !x -> !x
    %1 = torch.aten.sum.dim_IntList %0, %last, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !r
    // CHECK: %[[DOUBLED:.*]] = torch.aten.mul.Scalar
    // CHECK: torch.aten.sum.dim_IntList %[[DOUBLED]], %{{.*}} -> !torch.vtensor<[3],f64>
    %2 = torch.aten.permute %t, %turn : !t, !torch.list<int> -> !x
    %3 = torch.aten.mul.Scalar %2, %int2 : !x, !torch.int -> !x
    %4 = torch.aten.sum.dim_IntList %3, %last, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !r
    // CHECK: %[[PRODUCT:.*]] = torch.aten.mul.Tensor
    // CHECK: torch.aten.sum.dim_IntList %[[PRODUCT]], %{{.*}} -> !torch.vtensor<[3],f64>
    %5 = torch.aten.mul.Tensor %x, %q : !x, !q -> !x
    %6 = torch.aten.sum.dim_IntList %5, %last, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !r
    // COM: These lie in rows: 16 lanes of 16 numbers.
    // CHECK: %[[BOTH:.*]] = torch.aten.mul.Tensor
    // CHECK: torch.aten.sum.dim_IntList %[[BOTH]], %{{.*}} -> !torch.vtensor<[3],f32>
    %7 = torch.aten.mul.Tensor %x, %2 : !x, !x -> !x
    %8 = torch.aten.sum.dim_IntList %7, %last, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !r
    return %1, %4, %6, %8 : !r, !r, !r, !r
  }
}

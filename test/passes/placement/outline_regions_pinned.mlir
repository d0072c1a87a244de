// RUN: dovetail-opt %s --outline-regions | FileCheck %s
// RUN: dovetail-opt %s --outline-regions --verify-comparisons -o %t
//
// Catches a pinned value in one region with its uses, where IREE would compute it once for each of them, bits differing.

!v = !torch.vtensor<[2,2],f32>
!c = !torch.vtensor<[2,1],f32>
!b = !torch.vtensor<[2,2],i1>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rb = !dovetail.ref<!b, strided<[2, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> !rb attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !rb
    return %0 : !rb
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[ONCE:.*]] = call @forward_region_0(
  // CHECK: call @forward_region_1(%[[ONCE]])
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK: torch.aten.exp
  // CHECK: torch.aten.tanh %{{.*}} {dovetail.pinned}
  // CHECK-NEXT: return
  // CHECK-LABEL: func.func private @forward_region_1(
  // CHECK-NOT: torch.aten.tanh
  // CHECK: torch.aten.transpose
  // CHECK: torch.aten.eq.Tensor
  func.func @forward(%x: !r) -> !rb attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 {dovetail.placement = "region"} : !v -> !v
    %2 = torch.aten.tanh %1 {dovetail.pinned, dovetail.placement = "region"} : !v -> !v
    %3 = torch.aten.transpose.int %2, %zero, %one {dovetail.placement = "view"} : !v, !torch.int, !torch.int -> !v
    %4 = torch.aten.amax %3, %dim, %true {dovetail.placement = "region"} : !v, !torch.list<int>, !torch.bool -> !c
    %5 = torch.aten.eq.Tensor %2, %4 {dovetail.placement = "region"} : !v, !c -> !b
    %o = "dovetail.own"(%5) {requires_grad = false} : (!b) -> !rb
    return %o : !rb
  }
}

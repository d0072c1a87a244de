// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies' | FileCheck %s
//
// Catches a copy that is dropped though what it copies is conjugated as it is read, also behind a view and of any size.

!v = !torch.vtensor<[?],complex<f32>>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint
  func.func @joint(%x: !r) -> (!r, !r) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // CHECK: %[[SHOWN:.*]] = torch.operator "torch.aten._conj"
    %1 = torch.operator "torch.aten._conj"(%0) : (!v) -> !v
    // CHECK: %[[PLAIN:.*]] = torch.aten.clone %[[SHOWN]]
    %2 = torch.aten.clone %1, %none : !v, !torch.none -> !v
    // CHECK-NOT: torch.aten.clone
    %3 = torch.aten.clone %2, %none : !v, !torch.none -> !v
    %4 = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    // CHECK: %[[VIEW:.*]] = torch.aten.alias %[[SHOWN]]
    %5 = torch.aten.alias %1 : !v -> !v
    // CHECK: torch.aten.clone %[[VIEW]]
    %6 = torch.aten.clone %5, %none : !v, !torch.none -> !v
    %7 = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    return %4, %7 : !r, !r
  }
}

// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue' --run-check -o %t
//
// Catches a copy of what is in memory of its own already.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-NOT: dovetail.copy
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    return %0#0, %0#1 : !r, !r
  }
  // CHECK: func.func @forward(
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %2 = torch.aten.neg %1 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
}

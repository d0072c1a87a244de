// RUN: dovetail-opt %s --partition | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition{algorithm=default}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition,verify-comparisons' --run-check -o %t
//
// Catches a gradient that compares a saved maximum with a value computed again, of other bits; and a backward that rounds
// again, to another number than the forward did. The user's checkpointing says so of both; wrong it must not be.

!v = !torch.vtensor<[4,4],f32>
!c = !torch.vtensor<[4,1],f32>
!b = !torch.vtensor<[4,4],i1>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rc = !dovetail.ref<!c, strided<[1, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: torch.aten.tanh
  // CHECK: torch.aten.floor
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.tanh
  // CHECK-NOT: torch.aten.floor
  // CHECK: func.func private @apply
  func.func @joint(%x: !r {dovetail.requires_grad}) -> (!rc, !r) attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dim = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.tanh %0 {dovetail.pinned, dovetail.recompute = "must_recompute"} : !v -> !v
    %2 = torch.aten.amax %1, %dim, %true {dovetail.recompute = "must_recompute"} : !v, !torch.list<int>, !torch.bool -> !c
    %3 = torch.aten.exp %0 {dovetail.recompute = "must_recompute"} : !v -> !v
    %4 = torch.aten.floor %3 {dovetail.recompute = "must_recompute"} : !v -> !v
    %5 = torch.aten.mul.Tensor %0, %4 {dovetail.recompute = "must_recompute"} : !v, !v -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!c) -> !rc
    %p = "dovetail.own"(%5) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!rc) -> !rc
    %u = "dovetail.tangent"(%p) : (!r) -> !r
    %6 = "dovetail.read"(%t) : (!rc) -> !c
    %7 = "dovetail.read"(%u) : (!r) -> !v
    %8 = torch.aten.eq.Tensor %1, %2 : !v, !c -> !b
    %9 = torch.aten.mul.Tensor %8, %6 : !b, !c -> !v
    %10 = torch.aten.mul.Tensor %7, %4 : !v, !v -> !v
    %11 = torch.aten.add.Tensor %9, %10, %one : !v, !v, !torch.int -> !v
    "dovetail.gradient"(%11, %x) : (!v, !r) -> ()
    return %o, %p : !rc, !r
  }
}

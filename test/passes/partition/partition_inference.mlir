// RUN: dovetail-opt %s --pass-pipeline='partition' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
//
// Catches a backward, or a border to autograd, that is made where nothing is differentiated; and a dead forward op, or an
// effect, that is kept or lost wrongly.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!b = !torch.vtensor<[],i1>
!rb = !dovetail.ref<!b, strided<[]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @call(
  // CHECK-NEXT: %[[R:.*]] = call @forward(
  // CHECK-NEXT: return %[[R]]
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: torch.aten.neg
  // CHECK: torch.operator "torch.aten._assert_async"
  // CHECK: "dovetail.own"
  // CHECK-NOT: func.func
  func.func @joint(%x: !r {dovetail.requires_grad}, %flag: !rb) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%flag) : (!rb) -> !b
    %dead = torch.aten.neg %0 : !v -> !v
    %true = torch.aten.logical_or %1, %1 : !b, !b -> !b
    %all = torch.aten.eq.Tensor %1, %true : !b, !b -> !b
    torch.operator "torch.aten._assert_async"(%all) {dovetail.effect = "other", dovetail.reason = "has an effect"} : (!b) -> ()
    %2 = torch.aten.exp %0 : !v -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

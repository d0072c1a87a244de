// RUN: dovetail-opt %s --pass-pipeline='partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0.5}' | FileCheck %s --check-prefix=BUDGET
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='partition' | FileCheck %s --check-prefix=BUDGET
//
// Catches an activation that a product takes, and that the backward computes again for another: a launch that reads and
// writes all of it, though eager keeps it, too. What only a region of the backward takes, the sine, is computed there,
// and so is the activation on a CPU, or where memory has a budget.

!v = !torch.vtensor<[64,64],f32>
!r = !dovetail.ref<!v, strided<[64, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[KEPT:.*]] = torch.aten.relu
  // CHECK: return {{.*}}%[[KEPT]]{{.*}} :
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.relu
  // CHECK: torch.aten.sin
  // CHECK-NOT: torch.aten.relu
  // CHECK: return
  // BUDGET-LABEL: func.func @backward(
  // BUDGET: torch.aten.relu
  // BUDGET: torch.aten.mm
  func.func @joint(%x: !r {dovetail.static, dovetail.requires_grad}, %w: !r {dovetail.static, dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!r) -> !v
    %2 = torch.aten.relu %0 : !v -> !v
    %3 = torch.aten.mm %2, %1 : !v, !v -> !v
    %4 = torch.aten.sin %0 : !v -> !v
    %5 = torch.aten.mul.Tensor %3, %4 : !v, !v -> !v
    %6 = "dovetail.own"(%5) {requires_grad = true} : (!v) -> !r
    %7 = "dovetail.tangent"(%6) : (!r) -> !r
    %8 = "dovetail.read"(%7) : (!r) -> !v
    %9 = torch.aten.mul.Tensor %8, %4 : !v, !v -> !v
    %10 = torch.aten.permute %2, %order : !v, !torch.list<int> -> !v
    %11 = torch.aten.mm %10, %9 : !v, !v -> !v
    "dovetail.gradient"(%11, %w) : (!v, !r) -> ()
    return %6 : !r
  }
}

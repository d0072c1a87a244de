// RUN: dovetail-opt %s --pass-pipeline='partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0.5}' | FileCheck %s --check-prefix=BUDGET
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='partition' | FileCheck %s --check-prefix=BUDGET
//
// Catches a weight that autocast converts for a product, and the backward converts again: a launch and three times its
// bytes. So it is on a CPU, or where memory has a budget.

!v = !torch.vtensor<[64,64],f32>
!h = !torch.vtensor<[64,64],bf16>
!r = !dovetail.ref<!v, strided<[64, 1]>>
!rh = !dovetail.ref<!h, strided<[64, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[W:.*]] = "dovetail.read"(%arg1)
  // CHECK: %[[WEIGHT:.*]] = torch.aten._to_copy %[[W]]
  // CHECK: return {{.*}}%[[WEIGHT]]{{.*}} :
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten._to_copy
  // CHECK: torch.aten.mm
  // BUDGET-LABEL: func.func @backward(
  // BUDGET: torch.aten._to_copy
  // BUDGET: torch.aten.mm
  func.func @joint(%x: !rh {dovetail.requires_grad}, %w: !r {dovetail.static, dovetail.requires_grad}) -> !rh attributes {dovetail.role = "joint"} {
    %int15 = torch.constant.int 15
    %false = torch.constant.bool false
    %none = torch.constant.none
    %0 = "dovetail.read"(%x) : (!rh) -> !h
    %1 = "dovetail.read"(%w) : (!r) -> !v
    %2 = torch.aten._to_copy %1, %int15, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    %3 = torch.aten.mm %0, %2 : !h, !h -> !h
    %4 = "dovetail.own"(%3) {requires_grad = true} : (!h) -> !rh
    %5 = "dovetail.tangent"(%4) : (!rh) -> !rh
    %6 = "dovetail.read"(%5) : (!rh) -> !h
    %7 = torch.aten.mm %6, %2 : !h, !h -> !h
    "dovetail.gradient"(%7, %x) : (!h, !rh) -> ()
    return %4 : !rh
  }
}

// RUN: dovetail-opt %s --pass-pipeline='partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
//
// Catches a forward that writes two matrices for its backward though one would do, which a region reads anyway: on a GPU
// what is moved is the time, and functions cost nothing beside it.

!v = !torch.vtensor<[64,64],f32>
!r = !dovetail.ref<!v, strided<[64, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"(%{{.*}})
  // CHECK: %[[COPY:.*]] = "dovetail.copy"(%[[X]])
  // CHECK: return %{{.*}}, %[[COPY]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.tanh
  // CHECK: torch.aten.sigmoid
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.tanh %0 : !v -> !v
    %2 = torch.aten.sigmoid %0 : !v -> !v
    %3 = torch.aten.mul.Tensor %1, %2 : !v, !v -> !v
    %4 = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %5 = "dovetail.tangent"(%4) : (!r) -> !r
    %6 = "dovetail.read"(%5) : (!r) -> !v
    %7 = torch.aten.mul.Tensor %6, %1 : !v, !v -> !v
    %8 = torch.aten.mul.Tensor %7, %2 : !v, !v -> !v
    "dovetail.gradient"(%8, %x) : (!v, !r) -> ()
    return %4 : !r
  }
}

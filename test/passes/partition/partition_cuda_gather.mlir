// RUN: dovetail-opt %s --pass-pipeline='sink-gathers,partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='sink-gathers,partition' --run-check -o %t
//
// Catches a loss that writes a matrix of logarithms for its backward, since elements of it are gathered: they are
// computed of what is gathered from the product, which is in memory anyway, and the backward computes them again.

!v = !torch.vtensor<[64,64],f32>
!i = !torch.vtensor<[64,1],si64>
!o = !torch.vtensor<[64,1],f32>
!r = !dovetail.ref<!v, strided<[64, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[PRODUCT:.*]] = torch.aten.mm
  // CHECK: torch.aten.gather %[[PRODUCT]]
  // CHECK: return %{{.*}}, %[[PRODUCT]] :
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.log
  func.func @joint(%x: !r {dovetail.requires_grad}, %index: !dovetail.ref<!i, strided<[1, 1]>>) -> !dovetail.ref<!o, strided<[1, 1]>> attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%index) : (!dovetail.ref<!i, strided<[1, 1]>>) -> !i
    %2 = torch.aten.mm %0, %0 : !v, !v -> !v
    %3 = torch.aten.log %2 : !v -> !v
    %4 = torch.aten.gather %3, %one, %1, %false : !v, !torch.int, !i, !torch.bool -> !o
    %5 = "dovetail.own"(%4) {requires_grad = true} : (!o) -> !dovetail.ref<!o, strided<[1, 1]>>
    %6 = "dovetail.tangent"(%5) : (!dovetail.ref<!o, strided<[1, 1]>>) -> !dovetail.ref<!o, strided<[1, 1]>>
    %7 = "dovetail.read"(%6) : (!dovetail.ref<!o, strided<[1, 1]>>) -> !o
    %8 = torch.aten.mul.Tensor %3, %7 : !v, !o -> !v
    "dovetail.gradient"(%8, %x) : (!v, !r) -> ()
    return %5 : !dovetail.ref<!o, strided<[1, 1]>>
  }
}

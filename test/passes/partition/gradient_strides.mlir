// RUN: dovetail-opt %s --pass-pipeline='partition' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='compile' --run-check -o %t
//
// Catches the strides of a gradient that are lost where the backward becomes a function of its own.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK: func.func @backward({{.*}}) -> (!torch.vtensor<[3,4],f32> {dovetail.gradient_strides = array<i64: 1, 3>}, !torch.none)
  func.func @joint(%x: !r {dovetail.requires_grad}, %y: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sin %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %2 = "dovetail.read"(%t) : (!r) -> !v
    %3 = torch.aten.cos %0 : !v -> !v
    %4 = torch.aten.mul.Tensor %2, %3 : !v, !v -> !v
    "dovetail.gradient"(%4, %x) {dovetail.gradient_strides = array<i64: 1, 3>} : (!v, !r) -> ()
    return %o : !r
  }
}

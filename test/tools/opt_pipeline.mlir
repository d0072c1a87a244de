// RUN: dovetail-opt %s --pass-pipeline='builtin.module(func.func(canonicalize,cse),partition{algorithm=default})' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='func.func(canonicalize,cse),partition{algorithm=default}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='cse,partition' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='' | FileCheck %s --check-prefix=NONE
//
// Catches a pipeline that is read differently with `builtin.module` around it, and MLIR's passes not running between ours.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
// CHECK: module attributes {dovetail.level = "split"}
// CHECK: func.func @forward
// CHECK: %[[X:.*]] = "dovetail.read"
// CHECK-NEXT: torch.aten.mul.Tensor %[[X]], %[[X]]
// NONE: module attributes {dovetail.level = "joint"}
// NONE-COUNT-2: "dovetail.read"
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%x) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

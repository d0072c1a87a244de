// RUN: dovetail-opt %s --pass-pipeline='cse,symbol-dce' | FileCheck %s --check-prefix=MODULE
// RUN: dovetail-opt %s --pass-pipeline='func.func(cse)' | FileCheck %s --check-prefix=NESTED
// RUN: dovetail-opt %s --pass-pipeline='func.func(cse),verify-level' --run-check -o %t
//
// Catches an MLIR pass that our pipelines run on something else than its name says.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // MODULE-NOT: @unused
  // NESTED: func.func private @unused
  // MODULE-COUNT-1: "dovetail.read"
  // MODULE-NOT: "dovetail.read"
  // NESTED-COUNT-1: "dovetail.read"
  // NESTED-NOT: "dovetail.read"
  func.func private @unused() attributes {dovetail.role = "region"} {
    return
  }
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%x) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

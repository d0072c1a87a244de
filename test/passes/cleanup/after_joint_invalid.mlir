// RUN: dovetail-opt %s --split-input-file --verify-diagnostics --pass-pipeline='drop-redundant-copies'
// RUN: not dovetail-opt %s --pass-pipeline='merge-equal-values' 2>&1 | FileCheck %s
// RUN: not dovetail-opt %s --pass-pipeline='compose-views' 2>&1 | FileCheck %s
// RUN: not dovetail-opt %s --pass-pipeline='fold-concatenations' 2>&1 | FileCheck %s
// RUN: not dovetail-opt %s --pass-pipeline='fold-constants' 2>&1 | FileCheck %s
// RUN: not dovetail-opt %s --pass-pipeline='fold-scatters' 2>&1 | FileCheck %s
// RUN: not dovetail-opt %s --pass-pipeline='simplify-algebra' 2>&1 | FileCheck %s
//
// Catches a rewrite of values where memory has been planned: what is one value then may be in two results' memory.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
// CHECK: is at level "split", but the pass runs at "joint"
// expected-error @+1 {{is at level "split", but the pass runs at "joint"}}
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue,drop-redundant-copies' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue,drop-redundant-copies,merge-equal-values' --run-check -o %t
// RUN: dovetail-opt %t --pass-pipeline='place-ops,outline-regions,verify-level{level=program}' -o %t.program
//
// Catches a cleanup pass that takes what `plan-epilogue` inserts for a copy of a value, and makes three results one memory.
// (No level is stated: else such a pass does not run after `joint` at all.)

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module {
  func.func @call(%x: !r) -> (!r, !r, !r) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x) : (!r) -> (!r, !r, !r)
    return %0#0, %0#1, %0#2 : !r, !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[EXP:.*]] = torch.aten.exp
  // CHECK-NEXT: "dovetail.own"(%[[EXP]])
  // CHECK-NEXT: %[[SECOND:.*]] = "dovetail.copy"(%[[EXP]])
  // CHECK-NEXT: "dovetail.own"(%[[SECOND]])
  // CHECK-NEXT: %[[THIRD:.*]] = "dovetail.copy"(%[[EXP]])
  // CHECK-NEXT: "dovetail.own"(%[[THIRD]])
  func.func @forward(%x: !r) -> (!r, !r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o, %p, %q : !r, !r, !r
  }
}

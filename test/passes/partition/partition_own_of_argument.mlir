// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition,plan-epilogue' --run-check -o %t
//
// Catches a stage that means something else: between the two passes the result is what the argument held, no copy of
// it stands in the text yet, and `@call` then writes the argument.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[OLD:.*]] = "dovetail.read"
  // CHECK: "dovetail.own"(%[[OLD]])
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v
    "dovetail.write"(%1, %x) {mode = "no_grad", versions = 1 : i64} : (!v, !r) -> ()
    %o = "dovetail.own"(%0) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
//
// Catches a custom op that is taken for the op of ATen's that has its name, and a reason that sends the reader to a table
// in which no custom op can stand. (No --run-check: nothing defines the op.)

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func private @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // CHECK: torch.operator "torch.mine.exp"
    // CHECK-SAME: {dovetail.placement = "fallback", dovetail.placement_reason = "a custom op"} :
    %1 = torch.operator "torch.mine.exp"(%0) : (!v) -> !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

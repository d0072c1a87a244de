// RUN: dovetail-opt %s --pass-pipeline='save-in-branches,verify-level' | FileCheck %s
//
// Catches a branch that is given more results for one of the calls that run it, the other one then not fitting; and a
// backward that is given another predicate's values.

!v = !torch.vtensor<[4,4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rb = !dovetail.ref<!b, strided<[]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[ONE:.*]] = torch.operator "torch.dovetail.cond"(%[[P:.*]], %[[X:.*]]) {{{.*}}dovetail.then = @then_0}
  // CHECK: %[[TWO:.*]] = torch.operator "torch.dovetail.cond"(%[[Q:.*]], %[[X]]) {{{.*}}dovetail.then = @then_0}
  // CHECK: %[[THREE:.*]] = torch.operator "torch.dovetail.cond"(%[[Q]], %[[X]]) {{{.*}}dovetail.then = @then_2}
  // CHECK: torch.operator "torch.dovetail.cond"(%[[P]], %[[X]], %{{[0-9]+}}) {dovetail.else = @else_1, dovetail.in_backward
  // CHECK-LABEL: func.func private @then_1(
  // CHECK: torch.aten.mm
  func.func @joint(%p: !rb, %q: !rb, %x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}) -> (!r, !r, !r) attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%p) : (!rb) -> !b
    %1 = "dovetail.read"(%q) : (!rb) -> !b
    %2 = "dovetail.read"(%x) : (!r) -> !v
    %3 = torch.operator "torch.dovetail.cond"(%0, %2) {dovetail.then = @then_0, dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v) -> !v
    %4 = torch.operator "torch.dovetail.cond"(%1, %2) {dovetail.then = @then_0, dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v) -> !v
    %5 = torch.operator "torch.dovetail.cond"(%1, %2) {dovetail.then = @then_2, dovetail.else = @else_2, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v) -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %s = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %u = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %6 = "dovetail.read"(%t) : (!r) -> !v
    %7 = torch.operator "torch.dovetail.cond"(%0, %2, %6) {dovetail.in_backward, dovetail.then = @then_1, dovetail.else = @else_1, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v, !v) -> !v
    "dovetail.gradient"(%7, %x) : (!v, !r) -> ()
    return %o, %s, %u : !r, !r, !r
  }
  func.func private @then_0(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mm %x, %x : !v, !v -> !v
    return %0 : !v
  }
  func.func private @else_0(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
  func.func private @then_2(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mm %x, %x : !v, !v -> !v
    return %0 : !v
  }
  func.func private @else_2(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
  func.func private @then_1(%x: !v, %g: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mm %x, %x : !v, !v -> !v
    %1 = torch.aten.mul.Tensor %0, %g : !v, !v -> !v
    return %1 : !v
  }
  func.func private @else_1(%x: !v, %g: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %g : !v
  }
}

// RUN: dovetail-opt %s --pass-pipeline='verify-level,partition,plan-epilogue,state-border,place-ops,outline-regions,verify-level{level=program}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='compile' --run-check -o %t
// RUN: dovetail-opt %t --pass-pipeline='verify-level{level=regions}' -o %t.again
//
// Catches a branch that is dropped, merged or recomputed, a loop whose functions no pass sees, and functions that only
// a process knows which made them: the text alone must run. The loop stands in a branch, so that the functions must be
// found in the right order.

!v = !torch.vtensor<[4],f32>
!i = !torch.vtensor<[],si64>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // COM: Both equal calls stay, each branch is a host schedule of its own, with regions.
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[P:.*]] = call @forward_region_0(
  // CHECK-NEXT: %[[A:.*]] = torch.operator "torch.dovetail.cond"(%[[P]], %[[X:.*]]) {dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch", dovetail.then = @then_0}
  // CHECK-NEXT: torch.operator "torch.dovetail.cond"(%[[P]], %[[X]])
  // COM: The backward has one branch of its own, and takes the predicate from the forward.
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.operator "torch.dovetail.cond"(%{{.*}}, %{{.*}}, %{{.*}}) {dovetail.else = @else_1, dovetail.in_backward, dovetail.reason = "control flow: the host takes the branch", dovetail.then = @then_1}
  // CHECK-LABEL: func.func private @then_0(
  // CHECK-SAME: attributes {dovetail.role = "subgraph"}
  // CHECK: torch.operator "torch.dovetail.while_loop"(%{{.*}}, %{{.*}}) {dovetail.body = @body_0, dovetail.condition = @condition_0, dovetail.reason = "control flow: the host runs the loop"}
  // CHECK-LABEL: func.func private @else_0(
  // CHECK: call @else_0_region_0
  // CHECK-LABEL: func.func private @body_0_region_0(
  func.func @joint(%x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}) -> (!r, !r) attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %none = torch.constant.none
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.sum %0, %none : !v, !torch.none -> !torch.vtensor<[],f32>
    %2 = torch.aten.gt.Scalar %1, %zero : !torch.vtensor<[],f32>, !torch.int -> !b
    %3 = torch.operator "torch.dovetail.cond"(%2, %0) {dovetail.then = @then_0, dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v) -> !v
    %4 = torch.operator "torch.dovetail.cond"(%2, %0) {dovetail.then = @then_0, dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v) -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %p = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %6 = torch.operator "torch.dovetail.cond"(%2, %0, %5) {dovetail.in_backward, dovetail.then = @then_1, dovetail.else = @else_1, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v, !v) -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    return %o, %p : !r, !r
  }
  func.func private @then_0(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.vtensor.literal(dense<0> : tensor<si64>) : !i
    %1:2 = torch.operator "torch.dovetail.while_loop"(%0, %x) {dovetail.condition = @condition_0, dovetail.body = @body_0, dovetail.reason = "control flow: the host runs the loop"} : (!i, !v) -> (!i, !v)
    return %1#1 : !v
  }
  func.func private @else_0(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.neg %x : !v -> !v
    return %0 : !v
  }
  func.func private @then_1(%x: !v, %g: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mul.Tensor %x, %g : !v, !v -> !v
    return %0 : !v
  }
  func.func private @else_1(%x: !v, %g: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %g : !v
  }
  func.func private @condition_0(%n: !i, %x: !v) -> !b attributes {dovetail.role = "subgraph"} {
    %three = torch.constant.int 3
    %0 = torch.aten.lt.Scalar %n, %three : !i, !torch.int -> !b
    return %0 : !b
  }
  func.func private @body_0(%n: !i, %x: !v) -> (!i, !v) attributes {dovetail.role = "subgraph"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Scalar %n, %one, %one : !i, !torch.int, !torch.int -> !i
    %1 = torch.aten.mul.Tensor %x, %x : !v, !v -> !v
    return %0, %1 : !i, !v
  }
}

// RUN: dovetail-opt %s --pass-pipeline='save-in-branches,verify-level' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='save-in-branches,partition,verify-level{level=split}' --run-check -o %t
//
// Catches a branch that computes again in the backward what has open sizes, of which the other branch returns none; and
// facts of arguments that are fewer than a branch takes.

!v = !torch.vtensor<[?,4],f32>
!w = !torch.vtensor<[4,4],f32>
!b = !torch.vtensor<[],i1>
!int = !torch.int
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rw = !dovetail.ref<!w, strided<[4, 1]>>
!rb = !dovetail.ref<!b, strided<[]>>
#s = affine_map<()[s0] -> (s0, 4)>

module attributes {dovetail.level = "joint", dovetail.hints = array<i64: 6>} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[R:.*]]:3 = torch.operator "torch.dovetail.cond"
  // CHECK-SAME: -> (!torch.vtensor<[?,4],f32>, !torch.vtensor<[4,4],f32>, !torch.vtensor<[?,4],f32>)
  // CHECK: torch.operator "torch.dovetail.cond"(%{{.*}}, %[[R]]#1, %[[R]]#2)
  func.func @joint(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %p: !rb, %x: !r {dovetail.requires_grad, dovetail.sizes = #s, dovetail.watched = array<i64: 0>}, %w: !rw) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%p) : (!rb) -> !b
    %1 = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %2 = "dovetail.read"(%w) : (!rw) -> !w
    %3 = torch.operator "torch.dovetail.cond"(%0, %1, %2, %n) {dovetail.sizes = [#s], dovetail.then = @then_0, dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v, !w, !int) -> !v
    %o = "dovetail.own"(%3) {dovetail.sizes = [#s], requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) {dovetail.sizes = [#s]} : (!r) -> !r
    %4 = "dovetail.read"(%t) {dovetail.sizes = [#s]} : (!r) -> !v
    %5 = torch.operator "torch.dovetail.cond"(%0, %1, %2, %n, %4) {dovetail.sizes = [#s], dovetail.in_backward, dovetail.then = @then_1, dovetail.else = @else_1, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v, !w, !int, !v) -> !v
    "dovetail.gradient"(%5, %x) : (!v, !r) -> ()
    return %o : !r
  }
  // CHECK-LABEL: func.func private @then_0(
  // CHECK: %[[STATIC:.*]] = torch.aten.mm %[[W:.*]], %[[W]] :
  // CHECK: %[[OPEN:.*]] = torch.aten.mm %{{.*}}, %[[STATIC]] {
  // CHECK: return %{{.*}}, %[[STATIC]], %[[OPEN]] :
  func.func private @then_0(%x: !v {dovetail.sizes = #s}, %w: !w, %n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mm %w, %w : !w, !w -> !w
    %1 = torch.aten.mm %x, %0 {dovetail.sizes = [#s]} : !v, !w -> !v
    %2 = torch.aten.sin %1 {dovetail.sizes = [#s]} : !v -> !v
    return %2 : !v
  }
  // CHECK-LABEL: func.func private @else_0(
  // CHECK: torch.aten.full {{.*}} -> !torch.vtensor<[4,4],f32>
  // CHECK: torch.prim.ListConstruct %int0{{[_0-9]*}}, %int4
  // CHECK: torch.aten.full {{.*}} -> !torch.vtensor<[?,4],f32>
  func.func private @else_0(%x: !v {dovetail.sizes = #s}, %w: !w, %n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mul.Scalar %x, %n {dovetail.sizes = [#s]} : !v, !int -> !v
    return %0 : !v
  }
  // CHECK-LABEL: func.func private @then_1(
  // CHECK-SAME: %[[STATIC:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>, %[[OPEN:[a-z0-9]+]]: !torch.vtensor<[?,4],f32>)
  // CHECK-NOT: torch.aten.mm
  // CHECK: torch.aten.cos %[[OPEN]]
  // CHECK: torch.aten.transpose.int %[[STATIC]]
  func.func private @then_1(%x: !v {dovetail.sizes = #s}, %w: !w, %n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %g: !v {dovetail.sizes = #s}) -> !v attributes {dovetail.role = "subgraph"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.mm %w, %w : !w, !w -> !w
    %1 = torch.aten.mm %x, %0 {dovetail.sizes = [#s]} : !v, !w -> !v
    %2 = torch.aten.cos %1 {dovetail.sizes = [#s]} : !v -> !v
    %3 = torch.aten.mul.Tensor %g, %2 {dovetail.sizes = [#s]} : !v, !v -> !v
    %4 = torch.aten.transpose.int %0, %zero, %one : !w, !int, !int -> !w
    %5 = torch.aten.mm %3, %4 {dovetail.sizes = [#s]} : !v, !w -> !v
    return %5 : !v
  }
  func.func private @else_1(%x: !v {dovetail.sizes = #s}, %w: !w, %n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %g: !v {dovetail.sizes = #s}) -> !v attributes {dovetail.role = "subgraph"} {
    %0 = torch.aten.mul.Scalar %g, %n {dovetail.sizes = [#s]} : !v, !int -> !v
    return %0 : !v
  }
}

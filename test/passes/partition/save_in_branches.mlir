// RUN: dovetail-opt %s --pass-pipeline='save-in-branches,verify-level' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='save-in-branches,partition' --run-check -o %t
//
// Catches a product that a branch's backward computes again; one value handed over as another; random numbers that are
// drawn once where eager draws them twice; and cheap ops or arguments that are handed over though they cost nothing.

!v = !torch.vtensor<[4,4],f32>
!h = !torch.vtensor<[4,2],f32>
!b = !torch.vtensor<[],i1>
!m = !torch.vtensor<[4,4],i1>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rb = !dovetail.ref<!b, strided<[]>>

module attributes {dovetail.level = "joint"} {
  // COM: One place for the products of both branches, which are of one type; one for the narrow product of @then_0.
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[R:.*]]:3 = torch.operator "torch.dovetail.cond"(%[[P:.*]], %[[X:.*]]) {{{.*}}dovetail.then = @then_0}
  // CHECK: "dovetail.own"(%[[R]]#0)
  // CHECK: torch.operator "torch.dovetail.cond"(%[[P]], %[[X]], %{{.*}}, %[[R]]#1, %[[R]]#2) {dovetail.else = @else_1, dovetail.in_backward,
  func.func @joint(%p: !rb, %x: !r {dovetail.requires_grad, dovetail.watched = array<i64: 0>}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%p) : (!rb) -> !b
    %1 = "dovetail.read"(%x) : (!r) -> !v
    %2 = torch.operator "torch.dovetail.cond"(%0, %1) {dovetail.then = @then_0, dovetail.else = @else_0, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %4 = torch.operator "torch.dovetail.cond"(%0, %1, %3) {dovetail.in_backward, dovetail.then = @then_1, dovetail.else = @else_1, dovetail.reason = "control flow: the host takes the branch"} : (!b, !v, !v) -> !v
    "dovetail.gradient"(%4, %x) : (!v, !r) -> ()
    return %o : !r
  }
  // CHECK-LABEL: func.func private @then_0(
  // CHECK: %[[PRODUCT:.*]] = torch.aten.mm
  // CHECK: %[[NARROW:.*]] = torch.aten.mm
  // CHECK: return %{{.*}}, %[[PRODUCT]], %[[NARROW]] :
  func.func private @then_0(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %0 = torch.aten.mm %x, %x : !v, !v -> !v
    %1 = torch.aten.slice.Tensor %0, %one, %zero, %two, %one : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %2 = torch.aten.mm %x, %1 : !v, !h -> !h
    %3 = torch.prim.ListConstruct %2, %2 : (!h, !h) -> !torch.list<vtensor>
    %4 = torch.aten.cat %3, %one : !torch.list<vtensor>, !torch.int -> !v
    %5 = torch.aten.sin %4 : !v -> !v
    return %5 : !v
  }
  // CHECK-LABEL: func.func private @else_0(
  // CHECK: %[[MASK:.*]]:2 = torch.operator "torch.aten.native_dropout"
  // CHECK: %[[OTHER:.*]] = torch.aten.mm
  // CHECK: %[[ZEROS:.*]] = torch.aten.full {{.*}} -> !torch.vtensor<[4,2],f32>
  // CHECK: return %{{.*}}, %[[OTHER]], %[[ZEROS]] :
  func.func private @else_0(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %zero = torch.constant.float 0.0
    %true = torch.constant.bool true
    %0:2 = torch.operator "torch.aten.native_dropout"(%x, %zero, %true) {dovetail.effect = "draws", dovetail.reason = "effect: random", dovetail.strides = [array<i64: 4, 1>, unit, unit]} : (!v, !torch.float, !torch.bool) -> (!v, !m)
    %1 = torch.aten.exp %x : !v -> !v
    %2 = torch.aten.mm %1, %x : !v, !v -> !v
    %3 = torch.aten.mul.Tensor %2, %0#0 : !v, !v -> !v
    return %3 : !v
  }
  // CHECK-LABEL: func.func private @then_1(
  // CHECK-SAME: %{{.*}}: !torch.vtensor<[4,4],f32>, %{{.*}}: !torch.vtensor<[4,4],f32>, %[[PRODUCT:.*]]: !torch.vtensor<[4,4],f32>, %[[NARROW:.*]]: !torch.vtensor<[4,2],f32>)
  // CHECK-NOT: torch.aten.mm
  // CHECK: torch.aten.cos %[[PRODUCT]]
  // CHECK: torch.aten.cos %[[NARROW]]
  func.func private @then_1(%x: !v, %g: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %0 = torch.aten.mm %x, %x : !v, !v -> !v
    %1 = torch.aten.slice.Tensor %0, %one, %zero, %two, %one : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %2 = torch.aten.mm %x, %1 : !v, !h -> !h
    %3 = torch.aten.mul.Tensor %g, %0 : !v, !v -> !v
    %4 = torch.aten.cos %0 : !v -> !v
    %5 = torch.aten.mul.Tensor %3, %4 : !v, !v -> !v
    %6 = torch.aten.cos %2 : !h -> !h
    %7 = torch.aten.mul.Tensor %6, %2 : !h, !h -> !h
    %8 = torch.prim.ListConstruct %7, %7 : (!h, !h) -> !torch.list<vtensor>
    %9 = torch.aten.cat %8, %one : !torch.list<vtensor>, !torch.int -> !v
    %10 = torch.aten.mul.Tensor %5, %9 : !v, !v -> !v
    return %10 : !v
  }
  // COM: The mask is drawn again; the exponential is cheap; the narrow place is not used.
  // CHECK-LABEL: func.func private @else_1(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>, %[[G:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>, %[[OTHER:[a-z0-9]+]]: !torch.vtensor<[4,4],f32>, %[[NONE:[a-z0-9]+]]:
  // CHECK: torch.operator "torch.aten.native_dropout"
  // CHECK: torch.aten.exp
  // CHECK-NOT: torch.aten.mm
  // CHECK: torch.aten.mul.Tensor %{{.*}}, %[[OTHER]]
  func.func private @else_1(%x: !v, %g: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %zero = torch.constant.float 0.0
    %true = torch.constant.bool true
    %0:2 = torch.operator "torch.aten.native_dropout"(%x, %zero, %true) {dovetail.effect = "draws", dovetail.reason = "effect: random", dovetail.strides = [array<i64: 4, 1>, unit, unit]} : (!v, !torch.float, !torch.bool) -> (!v, !m)
    %1 = torch.aten.exp %x : !v -> !v
    %2 = torch.aten.mm %1, %x : !v, !v -> !v
    %3 = torch.aten.mul.Tensor %g, %0#0 : !v, !v -> !v
    %4 = torch.aten.mul.Tensor %3, %2 : !v, !v -> !v
    %5 = torch.aten.mul.Tensor %4, %1 : !v, !v -> !v
    return %5 : !v
  }
}

// RUN: dovetail-opt %s --pass-pipeline='partition' | FileCheck %s --check-prefixes=CHECK,CUT
// RUN: dovetail-opt %s --pass-pipeline='partition{algorithm=default}' | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{algorithm=default}' --run-check -o %t
//
// Catches a split that loses or reorders what the user observes, that saves what the min-cut could recompute, that saves
// memory which the call then overwrites (the backward would see the new value), or that lets autograd into an input that
// gets no gradient.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK: module attributes {dovetail.level = "split"}

  // COM: The user's memory is touched in @call alone. %b gets no gradient, so autograd must not reach it.
  // CHECK-LABEL: func.func @call(
  // CHECK-SAME: %[[X:.*]]: !dovetail.ref<{{.*}}>, %[[W:.*]]: !dovetail.ref<{{.*}}> {dovetail.requires_grad, dovetail.static}, %[[B:.*]]: !dovetail.ref<{{.*}}> {dovetail.requires_grad})
  // CHECK-NEXT: %[[D:.*]] = "dovetail.detach"(%[[B]])
  // CHECK-NEXT: %[[R:.*]]:2 = call @apply(%[[X]], %[[W]], %[[D]])
  // CHECK-NEXT: "dovetail.write"(%[[R]]#1, %[[X]]) {mode = "no_grad"}
  // CHECK-NEXT: return %[[R]]#0

  // COM: %x is overwritten by the call and needed by the backward: its old value is saved as a copy. What is saved of
  // COM: %w, which outlives the call, costs nothing.
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: {{.*}}, %[[W:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}) -> (
  // CUT-SAME: !torch.vtensor<[4],f32> {dovetail.saved = "private"}, !torch.vtensor<[4],f32> {dovetail.saved = "checked"})
  // ALL-SAME: !torch.vtensor<[4],f32> {dovetail.saved = "private"}, !torch.vtensor<[4],f32> {dovetail.saved = "checked"})
  // CHECK: %[[OLD:.*]] = "dovetail.read"(%[[X]])
  // CHECK: %[[WEIGHT:.*]] = "dovetail.read"(%[[W]])
  // CHECK: %[[EXP:.*]] = torch.aten.exp
  // CHECK: %[[NEG:.*]] = torch.aten.neg
  // CHECK: %[[O:.*]] = "dovetail.own"(%[[EXP]]) {dovetail.watched = array<i64: 0>, requires_grad = true}
  // CHECK: %[[P:.*]] = "dovetail.own"(%[[NEG]]) {requires_grad = false}
  // CHECK: %[[COPY:.*]] = "dovetail.copy"(%[[OLD]])
  // CUT: return %[[O]], %[[P]], %[[COPY]], %[[WEIGHT]]
  // ALL: return %[[O]], %[[P]], %[[COPY]], %[[EXP]]
  // CHECK-NOT: dovetail.write

  // CHECK-LABEL: func.func @backward(
  // CUT-SAME: %[[OLD:[a-z0-9]+]]: !torch.vtensor<[4],f32>, %[[WEIGHT:[a-z0-9]+]]: !torch.vtensor<[4],f32>, %[[T:[a-z0-9]+]]: !dovetail.ref<{{.*}}> {dovetail.tangent_of = 0 : i64})
  // CUT-DAG: %[[PRODUCT:.*]] = torch.aten.mul.Tensor %[[OLD]], %[[WEIGHT]]
  // CUT-DAG: %[[EXP:.*]] = torch.aten.exp %[[PRODUCT]]
  // CUT-DAG: %[[TANGENT:.*]] = "dovetail.read"(%[[T]])
  // ALL-SAME: %[[OLD:[a-z0-9]+]]: !torch.vtensor<[4],f32>, %[[EXP:[a-z0-9]+]]: !torch.vtensor<[4],f32>, %[[T:[a-z0-9]+]]: !dovetail.ref
  // ALL-NEXT: %[[TANGENT:.*]] = "dovetail.read"(%[[T]])
  // ALL-NOT: torch.aten.exp
  // CHECK: %[[SCALED:.*]] = torch.aten.mul.Tensor %[[TANGENT]], %[[EXP]]
  // CHECK-NEXT: %[[G:.*]] = torch.aten.mul.Tensor %[[SCALED]], %[[OLD]]
  // CHECK: %[[NONE:.*]] = torch.constant.none
  // CHECK: return %{{.*}}, %[[G]], %{{.*}} : !torch.none, !torch.vtensor<[4],f32>, !torch.none

  // CHECK: func.func private @apply(
  // CHECK-SAME: attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
  // CHECK-NOT: dovetail.gradient
  // CHECK-NOT: dovetail.tangent"
  // CHECK-NOT: @joint
  func.func @joint(%x: !r, %w: !r {dovetail.requires_grad, dovetail.static}, %b: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %3 = torch.aten.exp %2 : !v -> !v
    %4 = torch.aten.neg %2 : !v -> !v
    "dovetail.write"(%4, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %o = "dovetail.own"(%3) {dovetail.watched = array<i64: 0>, requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %3 : !v, !v -> !v
    %7 = torch.aten.mul.Tensor %6, %0 : !v, !v -> !v
    "dovetail.gradient"(%7, %w) : (!v, !r) -> ()
    return %o : !r
  }
}

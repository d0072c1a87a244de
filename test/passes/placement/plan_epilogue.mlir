// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='plan-epilogue' --run-check -o %t
//
// Catches two results of the user's in one memory, a result that is the user's own argument under another name, and copies
// where a value already lies in memory of its own (wasted time in every call).

!m = !torch.vtensor<[2,2],f32>
!rm = !dovetail.ref<!m, strided<[2, 1]>>
!t = !dovetail.ref<!m, strided<[1, 2]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rm) -> (!rm, !rm, !t, !rm) attributes {dovetail.role = "call"} {
    %0:4 = call @apply(%x) : (!rm) -> (!rm, !rm, !t, !rm)
    return %0#0, %0#1, %0#2, %0#3 : !rm, !rm, !t, !rm
  }
  func.func private @apply(!rm) -> (!rm, !rm, !t, !rm)
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[EXP:.*]] = torch.aten.exp
  // CHECK: %[[VIEW:.*]] = torch.aten.transpose.int %[[EXP]]
  // CHECK-NEXT: "dovetail.own"(%[[EXP]])
  // CHECK: %[[SECOND:.*]] = "dovetail.copy"(%[[EXP]])
  // CHECK-NEXT: "dovetail.own"(%[[SECOND]])
  // CHECK: %[[THIRD:.*]] = "dovetail.copy"(%[[VIEW]])
  // CHECK-NEXT: "dovetail.own"(%[[THIRD]])
  // CHECK: %[[FOURTH:.*]] = "dovetail.copy"(%[[X]])
  // CHECK-NEXT: "dovetail.own"(%[[FOURTH]])
  // CHECK-NOT: dovetail.copy
  // CHECK: return
  func.func @forward(%x: !rm) -> (!rm, !rm, !t, !rm, !m {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!rm) -> !m
    %1 = torch.aten.exp %0 : !m -> !m
    %2 = torch.aten.transpose.int %1, %zero, %one : !m, !torch.int, !torch.int -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !rm
    %p = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !rm
    %q = "dovetail.own"(%2) {requires_grad = false} : (!m) -> !t
    %r = "dovetail.own"(%0) {requires_grad = false} : (!m) -> !rm
    return %o, %p, %q, %r, %1 : !rm, !rm, !t, !rm, !m
  }

  // COM: A gradient must not be the caller's tangent, nor a saved value, which lives on.
  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: %{{.*}}: !torch.vtensor<[2,2],f32>, %[[T:[a-z0-9]+]]: !dovetail.ref
  // CHECK: %[[TANGENT:.*]] = "dovetail.read"(%[[T]])
  // CHECK: %[[COPY:.*]] = "dovetail.copy"(%[[TANGENT]])
  // CHECK: return %[[COPY]]
  func.func @backward(%saved: !m, %t: !rm {dovetail.tangent_of = 0 : i64}) -> !m attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!rm) -> !m
    return %0 : !m
  }
}

// RUN: dovetail-opt %s --pass-pipeline='state-border,verify-level{level=split}' -o %t
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %t --pass-pipeline='state-border' | diff %t -
// RUN: sed 's/dovetail.arguments = .*, dovetail.role = "call"/dovetail.role = "call"/' %s | dovetail-opt - --pass-pipeline='state-border' | FileCheck %s --check-prefix=PLAIN
//
// Catches a wrapper subclass whose change before the backward goes unseen, since nobody knows what its parts lie in.

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "split"} {
  // COM: A result of the border's, an argument, another result, and a view of the first.
  // CHECK: func.func @call(
  // CHECK-SAME: -> (!dovetail.ref{{[^{}]*}} {dovetail.in_result = 1 : i64}, !dovetail.ref{{[^{}]*}}>>, !dovetail.ref{{[^{}]*}} {dovetail.in_result = 0 : i64}, !dovetail.ref{{[^{}]*}} {dovetail.in_result = 1 : i64})
  // COM: Plain tensors have versions that the border checks by itself.
  // PLAIN: func.func @call(
  // PLAIN-NOT: in_result
  func.func @call(%x: !r, %y: !r) -> (!r, !r, !r, !r) attributes {dovetail.arguments = [{attributes = ["a", "b"], class = "t:T", context = "None", parts = [0, 1], size = [4], stride = [1]}], dovetail.results = [{attributes = ["a", "b"], class = "t:T", context = "None", parts = [0, 1], size = [4], stride = [1]}, 2, 3], dovetail.role = "call"} {
    %0:2 = call @apply(%x, %y) : (!r, !r) -> (!r, !r)
    %1 = "dovetail.view"(%0#1) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !r
    return %0#1, %y, %0#0, %1 : !r, !r, !r, !r
  }
  // PLAIN: func.func private @apply(
  func.func private @apply(!r, !r) -> (!r, !r) attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r, !m {dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.aten.exp %0 : !m -> !m
    %2 = torch.aten.sin %0 : !m -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!m) -> !r
    return %o, %p, %1 : !r, !r, !m
  }
  func.func @backward(%a: !m, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!m, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.aten.mul.Tensor %0, %a : !m, !m -> !m
    return %1, %none : !m, !torch.none
  }
}

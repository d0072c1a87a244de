// RUN: dovetail-opt %s --pass-pipeline='state-border,verify-level{level=split}' -o %t
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %t --pass-pipeline='state-border' | diff %t -
// RUN: dovetail-opt %s --pass-pipeline='state-border' --run-check -o %t
//
// Catches a saved value whose change before the backward goes unseen, or that is looked for though no gradient at hand
// needs it: what the runtime checks is what stands here.

!m = !torch.vtensor<[2,2],f32>
!r = !dovetail.ref<!m, strided<[2, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r, %y: !r) -> (!r, !r, !r) attributes {dovetail.role = "call"} {
    %0:4 = call @apply(%x, %y) : (!r, !r) -> (!r, !r, !r, !r)
    "dovetail.write"(%0#3, %y) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#0, %0#1, %0#2 : !r, !r, !r
  }

  // COM: Eager's backward of result 0 needs the memory of %x, too.
  func.func private @apply(!r {dovetail.watched = array<i64: 0>}, !r) -> (!r, !r, !r, !r)
      attributes {dovetail.forward = @forward, dovetail.backward = @backward, dovetail.role = "border"}

  // CHECK-LABEL: func.func @forward(
  // COM: Result 0 is a saved value itself; result 1 holds one in its memory; result 2 is a copy of one.
  // CHECK-SAME: strided<[2, 1]>>, {{[^,]*,[^,]*,[^,]*}}, strided<[2, 1]>> {dovetail.checked_for = array<i64: 0, 1>}, !dovetail.ref
  // CHECK-SAME: {dovetail.checked_for = array<i64: 0>, dovetail.result = 0 : i64, dovetail.saved = "checked"}
  // CHECK-SAME: {dovetail.checked_for = array<i64: 0, 1>, dovetail.in_result = 1 : i64, dovetail.saved = "checked"}
  // CHECK-SAME: {dovetail.checked_for = array<i64: 0, 1>, dovetail.in_argument = 0 : i64, dovetail.saved = "checked"}
  // CHECK-SAME: {dovetail.saved = "private"}
  // COM: Only %y gets the memory of this one.
  // CHECK-SAME: {dovetail.saved = "private"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r, !r, !r, !m {dovetail.saved = "checked"}, !m {dovetail.saved = "checked"},
      !m {dovetail.saved = "checked"}, !m {dovetail.saved = "checked"}, !m {dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.aten.exp %0 : !m -> !m
    %2 = torch.aten.sin %0 : !m -> !m
    %3 = torch.aten.transpose.int %2, %zero, %one : !m, !torch.int, !torch.int -> !m
    %4 = torch.aten.cos %0 : !m -> !m
    %5 = "dovetail.copy"(%4) : (!m) -> !m
    %6 = torch.aten.neg %0 : !m -> !m
    %o = "dovetail.own"(%1) {requires_grad = true} : (!m) -> !r
    // COM: Eager's backward of result 0 reads this one again.
    %p = "dovetail.own"(%2) {dovetail.reread = array<i64: 0>, requires_grad = true} : (!m) -> !r
    %q = "dovetail.own"(%5) {requires_grad = false} : (!m) -> !r
    %w = "dovetail.own"(%6) {requires_grad = false} : (!m) -> !r
    return %o, %p, %q, %w, %1, %3, %0, %4, %6 : !r, !r, !r, !r, !m, !m, !m, !m, !m
  }

  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: {dovetail.uses = array<i64: 0>}
  // CHECK-SAME: {dovetail.uses = array<i64: 1>}
  // CHECK-SAME: {dovetail.uses = array<i64: 1>}
  // CHECK-SAME: {dovetail.uses = array<i64: 0, 1>}
  // COM: Nothing is multiplied with this one: it may be freed after any backward.
  // CHECK-SAME: {dovetail.uses = array<i64>}
  func.func @backward(%a: !m, %b: !m, %c: !m, %d: !m, %e: !m, %t: !r {dovetail.tangent_of = 0 : i64},
      %u: !r {dovetail.tangent_of = 1 : i64}) -> (!m, !torch.none) attributes {dovetail.role = "backward"} {
    %none = torch.constant.none
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = "dovetail.read"(%u) : (!r) -> !m
    %2 = torch.aten.mul.Tensor %0, %a : !m, !m -> !m
    %3 = torch.aten.mul.Tensor %b, %c : !m, !m -> !m
    %4 = torch.aten.mul.Tensor %1, %3 : !m, !m -> !m
    %5 = torch.aten.add.Tensor %2, %4, %one : !m, !m, !torch.int -> !m
    %6 = torch.aten.mul.Tensor %5, %d : !m, !m -> !m
    return %6, %none : !m, !torch.none
  }
}

// RUN: dovetail-opt %s --pass-pipeline='partition' | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0.5}' | FileCheck %s --check-prefixes=CHECK,HALF
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0}' | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0.5}' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0}' --run-check -o %t
//
// Catches a budget that no product is recomputed for, one that recomputes the dearer product first, and a mask that is
// drawn again, or a value recomputed that the user wants saved, because bytes are all that counts.

!v = !torch.vtensor<[8,8],f32>
!b = !torch.vtensor<[8,8],i1>
!r = !dovetail.ref<!v, strided<[8, 1]>>

module attributes {dovetail.level = "joint"} {
  // COM: The memory of the arguments is there anyway. Above it, two products are saved, then one, then none; always the
  // COM: dropout's mask and result, which no one can draw again, and the tanh that the user wants.
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[FIRST:.*]] = torch.aten.mm
  // CHECK: %[[SECOND:.*]] = torch.aten.mm
  // CHECK: %[[DROPPED:.*]]:2 = torch.operator "torch.aten.native_dropout"
  // CHECK: %[[TANH:.*]] = torch.aten.tanh
  // ALL: return %{{[0-9]+}}, %[[FIRST]], %[[SECOND]], %[[DROPPED]]#1, %[[TANH]] :
  // HALF: return %{{[0-9]+}}, %{{[0-9]+}}, %[[SECOND]], %[[DROPPED]]#1, %[[TANH]] :
  // NONE: return %{{[0-9]+}}, %{{[0-9]+}}, %[[DROPPED]]#1, %[[TANH]] :
  // CHECK-LABEL: func.func @backward(
  // ALL-NOT: torch.aten.mm
  // HALF: torch.aten.mm
  // HALF-NOT: torch.aten.mm
  // NONE: torch.aten.mm
  // NONE: torch.aten.mm
  // CHECK-NOT: native_dropout
  // CHECK-NOT: torch.aten.tanh
  // CHECK: func.func private @apply
  func.func @joint(%x: !r {dovetail.requires_grad, dovetail.static, dovetail.watched = array<i64: 0>}) -> !r attributes {dovetail.role = "joint"} {
    %half = torch.constant.float 5.000000e-01
    %true = torch.constant.bool true
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.mm %0, %0 : !v, !v -> !v
    %2 = torch.aten.sin %1 : !v -> !v
    %3 = torch.aten.mm %2, %0 : !v, !v -> !v
    %4 = torch.aten.sin %3 : !v -> !v
    %5:2 = torch.operator "torch.aten.native_dropout"(%4, %half, %true) {dovetail.effect = "draws", dovetail.reason = "effect: random"} : (!v, !torch.float, !torch.bool) -> (!v, !b)
    %6 = torch.aten.tanh %5#0 {dovetail.recompute = "must_save"} : !v -> !v
    %o = "dovetail.own"(%6) {dovetail.watched = array<i64: 0>, requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %7 = "dovetail.read"(%t) : (!r) -> !v
    %8 = torch.aten.mul.Tensor %7, %6 : !v, !v -> !v
    %9 = torch.aten.mul.Tensor %8, %5#1 : !v, !b -> !v
    %10 = torch.aten.mul.Tensor %9, %3 : !v, !v -> !v
    %11 = torch.aten.mul.Tensor %10, %1 : !v, !v -> !v
    "dovetail.gradient"(%11, %x) : (!v, !r) -> ()
    return %o : !r
  }
}

// RUN: dovetail-opt %s --split-input-file --pass-pipeline='partition,verify-level{level=split}' --run-check | FileCheck %s
//
// Catches a guard that the split loses, or that runs after the program it is there to prevent; and a value that is saved
// as a reference to memory which the call then writes through another argument, which is also what the reference
// executor must not read late in @joint.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1, dovetail.role = "guard"}
  // CHECK: func.func @call(%[[X:.*]]: !dovetail.ref<{{.*}}>, %[[Y:.*]]: !dovetail.ref<{{.*}}>)
  // CHECK-NEXT: call @guard(%[[X]], %[[Y]])
  // CHECK-NEXT: call @forward(%[[X]], %[[Y]])
  // CHECK-NEXT: "dovetail.write"
  // CHECK-LABEL: func.func @forward
  // CHECK-NOT: @guard
  func.func @joint(%x: !r, %y: !r) attributes {dovetail.role = "joint"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = "dovetail.read"(%y) : (!r) -> !v
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!v, !r) -> ()
    return
  }
}

// -----

// COM: `x` and `y` are views of one tensor, four bytes apart; `z` is independent of both. The backward needs the old
// COM: value of `y`, which the write of `x` changes, and that of `z`, which stays.
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @guard(
    !r {dovetail.name = "x", dovetail.group = 0, dovetail.start = 0, dovetail.root = 0, dovetail.object = 0},
    !r {dovetail.name = "y", dovetail.group = 0, dovetail.start = 4, dovetail.root = 0, dovetail.object = 1},
    !r {dovetail.name = "z"}) attributes {dovetail.mutated = 1, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @call(
  // CHECK: call @guard(
  // CHECK-NEXT: call @apply(
  // CHECK: func.func private @guard(
  // CHECK-SAME: dovetail.group = 0 : i64, dovetail.name = "x", dovetail.object = 0 : i64, dovetail.root = 0 : i64, dovetail.start = 0 : i64
  // CHECK-SAME: dovetail.group = 0 : i64, dovetail.name = "y", dovetail.object = 1 : i64, dovetail.root = 0 : i64, dovetail.start = 4 : i64
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: dovetail.saved = "private"
  // CHECK-SAME: dovetail.saved = "checked"
  // CHECK: %[[Y:.*]] = "dovetail.read"(%arg1)
  // CHECK-NEXT: %[[Z:.*]] = "dovetail.read"(%arg2)
  // CHECK: %[[COPY:.*]] = "dovetail.copy"(%[[Y]])
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[COPY]], %[[Z]] :
  // CHECK-LABEL: func.func @backward(
  func.func @joint(
      %x: !r, %y: !r, %z: !r {dovetail.watched = array<i64: 0>}, %w: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    call @guard(%x, %y, %z) : (!r, !r, !r) -> ()
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = "dovetail.read"(%z) : (!r) -> !v
    %3 = "dovetail.read"(%w) : (!r) -> !v
    %4 = torch.aten.mul.Tensor %1, %3 : !v, !v -> !v
    %5 = torch.aten.mul.Tensor %4, %2 : !v, !v -> !v
    %6 = torch.aten.exp %0 : !v -> !v
    "dovetail.write"(%6, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %o = "dovetail.own"(%5) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %7 = "dovetail.read"(%t) : (!r) -> !v
    %8 = torch.aten.mul.Tensor %7, %2 : !v, !v -> !v
    %9 = torch.aten.mul.Tensor %8, %1 : !v, !v -> !v
    "dovetail.gradient"(%9, %w) : (!v, !r) -> ()
    return %o : !r
  }
}

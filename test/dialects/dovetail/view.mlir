// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `view` that is merged with an equal one (eager makes two objects, and `is` tells), removed, or that loses
// `index = 0`, an empty `args` or `grad_mode = false`, which are falsy in Python.

!m = !torch.vtensor<[2,2],f32>
!rm = !dovetail.ref<!m, strided<[2, 1]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: !dovetail.ref
// CHECK-NEXT: %{{.*}} = "dovetail.view"(%[[X]]) {args = [0, 1], callee = "aten.transpose.int", index = -1 : i64} : (!dovetail.ref<!torch.vtensor<[2,2],f32>, strided<[2, 1]>>) -> !dovetail.ref<!torch.vtensor<[2,2],f32>, strided<[1, 2]>>
// CHECK-NEXT: %{{.*}} = "dovetail.view"(%[[X]]) {args = [], callee = "aten.unbind.int", index = 0 : i64}
// CHECK-NEXT: %{{.*}} = "dovetail.view"(%[[X]]) {args = [], callee = "aten.alias.default", grad_mode = false, index = -1 : i64}
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-3: "dovetail.view"
// EFFECTS: return
func.func @round_trip(%x: !rm) {
  %0 = "dovetail.view"(%x) {args = [0, 1], callee = "aten.transpose.int", index = -1 : i64}
      : (!rm) -> !dovetail.ref<!m, strided<[1, 2]>>
  %1 = "dovetail.view"(%x) {args = [], callee = "aten.unbind.int", index = 0 : i64}
      : (!rm) -> !dovetail.ref<!torch.vtensor<[2],f32>, strided<[1]>>
  %2 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", grad_mode = false, index = -1 : i64} : (!rm) -> !rm
  return
}

// COM: One of the views that may change the element type.
// CHECK-LABEL: func.func @of_another_dtype(
// CHECK: callee = "aten.view.dtype"
func.func @of_another_dtype(%x: !rm) {
  %0 = "dovetail.view"(%x) {args = ["int32"], callee = "aten.view.dtype", index = -1 : i64}
      : (!rm) -> !dovetail.ref<!torch.vtensor<[2,2],si32>, strided<[2, 1]>>
  return
}

// EFFECTS-LABEL: func.func @never_merged(
// EFFECTS: %[[A:.*]] = "dovetail.view"
// EFFECTS: %[[B:.*]] = "dovetail.view"
// EFFECTS: return %[[A]], %[[B]]
func.func @never_merged(%x: !rm) -> (!rm, !rm) {
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!rm) -> !rm
  %1 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!rm) -> !rm
  return %0, %1 : !rm, !rm
}

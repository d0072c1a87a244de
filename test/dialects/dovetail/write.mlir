// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `write` that loses its mode or its count of in-place ops, or that is merged with an equal one or removed:
// each moves the user's version counter.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @modes(
// CHECK-SAME: %[[V:.*]]: !torch.vtensor<[4],f32>, %[[X:.*]]: !dovetail.ref
// CHECK-NEXT: "dovetail.write"(%[[V]], %[[X]]) {mode = "tracked"} : (!torch.vtensor<[4],f32>, !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> ()
// CHECK-NEXT: "dovetail.write"(%[[V]], %[[X]]) {mode = "no_grad"}
// CHECK-NEXT: "dovetail.write"(%[[V]], %[[X]]) {mode = "no_grad", versions = 3 : i64}
// CHECK-NEXT: "dovetail.write"(%[[V]], %[[X]]) {mode = "hidden"}
func.func @modes(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = "tracked"} : (!v, !r) -> ()
  "dovetail.write"(%v, %x) {mode = "no_grad"} : (!v, !r) -> ()
  "dovetail.write"(%v, %x) {mode = "no_grad", versions = 3 : i64} : (!v, !r) -> ()
  "dovetail.write"(%v, %x) {mode = "hidden"} : (!v, !r) -> ()
  return
}

// COM: What is written may be memory that the user gets as well.
// CHECK-LABEL: func.func @of_owned_memory(
// CHECK: "dovetail.write"(%{{.*}}, %{{.*}}) {mode = "tracked"} : (!dovetail.ref<{{.*}}>, !dovetail.ref<{{.*}}>) -> ()
func.func @of_owned_memory(%v: !v, %x: !r) {
  %o = "dovetail.own"(%v) {requires_grad = true} : (!v) -> !r
  "dovetail.write"(%o, %x) {mode = "tracked"} : (!r, !r) -> ()
  return
}

// EFFECTS-LABEL: func.func @never_merged(
// EFFECTS-COUNT-2: "dovetail.write"
// EFFECTS: return
func.func @never_merged(%v: !v, %x: !r) {
  "dovetail.write"(%v, %x) {mode = "no_grad"} : (!v, !r) -> ()
  "dovetail.write"(%v, %x) {mode = "no_grad"} : (!v, !r) -> ()
  return
}

// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `set_metadata` that loses `offset = 0` (falsy in Python) or the empty sizes of a scalar, or that is removed,
// or across which reads are merged: a tensor of another size holds another value.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

!scalar = !dovetail.ref<!torch.vtensor<[],f32>, strided<[]>>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: !dovetail.ref<{{.*}}>, %[[S:.*]]: !dovetail.ref<{{.*}}>)
// CHECK-NEXT: "dovetail.set_metadata"(%[[X]]) {offset = 0 : i64, size = [2, 2], stride = [1, 2]} : (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> ()
// CHECK-NEXT: "dovetail.set_metadata"(%[[S]]) {offset = -1 : i64, size = [], stride = [], versions = 2 : i64}
func.func @round_trip(%x: !r, %s: !scalar) {
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [1, 2]} : (!r) -> ()
  "dovetail.set_metadata"(%s) {offset = -1 : i64, size = [], stride = [], versions = 2 : i64} : (!scalar) -> ()
  return
}

// EFFECTS-LABEL: func.func @orders_reads(
// EFFECTS-NEXT: %[[A:.*]] = "dovetail.read"
// EFFECTS-NEXT: "dovetail.set_metadata"
// EFFECTS-NEXT: "dovetail.set_metadata"
// EFFECTS-NEXT: %[[B:.*]] = "dovetail.read"
// EFFECTS-NEXT: return %[[A]], %[[B]]
func.func @orders_reads(%x: !r) -> (!v, !v) {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [1, 2]} : (!r) -> ()
  "dovetail.set_metadata"(%x) {offset = 0 : i64, size = [2, 2], stride = [1, 2]} : (!r) -> ()
  %1 = "dovetail.read"(%x) : (!r) -> !v
  return %0, %1 : !v, !v
}

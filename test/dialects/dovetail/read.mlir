// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `read` that loses its strides in a round trip, that is merged across a write (the second would then see the
// old values), or that is kept although nobody uses it.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// CHECK-LABEL: func.func @merged(
// CHECK-SAME: %[[X:.*]]: !dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[1, 2]>>)
// CHECK-NEXT: %[[A:.*]] = "dovetail.read"(%[[X]]) : (!dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[1, 2]>>) -> !torch.vtensor<[2,3],f32>
// CHECK-NEXT: %[[B:.*]] = "dovetail.read"(%[[X]])
// CHECK-NEXT: return %[[A]], %[[B]]
// EFFECTS-LABEL: func.func @merged(
// EFFECTS-NEXT: %[[A:.*]] = "dovetail.read"
// EFFECTS-NEXT: return %[[A]], %[[A]]
!m = !torch.vtensor<[2,3],f32>
!column_major = !dovetail.ref<!m, strided<[1, 2]>>
func.func @merged(%x: !column_major) -> (!m, !m) {
  %0 = "dovetail.read"(%x) : (!column_major) -> !m
  %1 = "dovetail.read"(%x) : (!column_major) -> !m
  return %0, %1 : !m, !m
}

// EFFECTS-LABEL: func.func @not_across_a_write(
// EFFECTS-NEXT: %[[A:.*]] = "dovetail.read"
// EFFECTS-NEXT: "dovetail.write"
// EFFECTS-NEXT: %[[B:.*]] = "dovetail.read"
// EFFECTS-NEXT: return %[[A]], %[[B]]
func.func @not_across_a_write(%x: !r, %y: !v) -> (!v, !v) {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  "dovetail.write"(%y, %x) {mode = "no_grad"} : (!v, !r) -> ()
  %1 = "dovetail.read"(%x) : (!r) -> !v
  return %0, %1 : !v, !v
}

// COM: The written ref may be the read one's memory under another name.
// EFFECTS-LABEL: func.func @not_across_a_write_to_an_alias(
// EFFECTS: %[[A:.*]] = "dovetail.read"
// EFFECTS: "dovetail.write"
// EFFECTS: %[[B:.*]] = "dovetail.read"
// EFFECTS: return %[[A]], %[[B]]
func.func @not_across_a_write_to_an_alias(%x: !r, %y: !v) -> (!v, !v) {
  %alias = "dovetail.detach"(%x) : (!r) -> !r
  %0 = "dovetail.read"(%x) : (!r) -> !v
  "dovetail.write"(%y, %alias) {mode = "hidden"} : (!v, !r) -> ()
  %1 = "dovetail.read"(%x) : (!r) -> !v
  return %0, %1 : !v, !v
}

// EFFECTS-LABEL: func.func @dropped(
// EFFECTS-NOT: dovetail.read
// EFFECTS: return
func.func @dropped(%x: !r) {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  return
}

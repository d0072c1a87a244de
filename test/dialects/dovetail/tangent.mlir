// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `tangent` that is merged with an equal one or removed when unused: autograd delivers tangents by position.

// CHECK-LABEL: func.func @round_trip(
// CHECK: %[[O:.*]] = "dovetail.own"
// CHECK-NEXT: %{{.*}} = "dovetail.tangent"(%[[O]]) : (!dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[3, 1]>>) -> !dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[1, 2]>>
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-COUNT-2: "dovetail.tangent"
// EFFECTS: return
!m = !torch.vtensor<[2,3],f32>
!rows = !dovetail.ref<!m, strided<[3, 1]>>
!columns = !dovetail.ref<!m, strided<[1, 2]>>
func.func @round_trip(%v: !m) {
  %o = "dovetail.own"(%v) {requires_grad = true} : (!m) -> !rows
  %0 = "dovetail.tangent"(%o) : (!rows) -> !columns
  %1 = "dovetail.tangent"(%o) : (!rows) -> !columns
  return
}

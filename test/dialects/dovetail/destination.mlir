// RUN: dovetail-opt %s | dovetail-opt --pass-pipeline='canonicalize,cse' | FileCheck %s
//
// Catches a destination that is lost between its making and its region, or merged with another of the same argument.

!v = !torch.vtensor<[2,3],f32>
!r = !dovetail.ref<!v, strided<[3, 1]>>
// CHECK-LABEL: func.func @f(
// CHECK: "dovetail.destination"(%{{.*}}) {proof = "pointwise"} : (!dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[3, 1]>>) -> !torch.tensor<[2,3],f32>
// CHECK-NEXT: "dovetail.destination"(%{{.*}}) {proof = "not read"}
// CHECK-NEXT: "dovetail.destination"(%{{.*}}) {proof = "none"}
// CHECK-NEXT: "dovetail.destination"(%{{.*}}) {proof = "none"}
func.func @f(%x: !r) {
  %a = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !torch.tensor<[2,3],f32>
  %b = "dovetail.destination"(%x) {proof = "not read"} : (!r) -> !torch.tensor<[2,3],f32>
  %c = "dovetail.destination"(%x) {proof = "none"} : (!r) -> !torch.tensor<[2,3],f32>
  %d = "dovetail.destination"(%x) {proof = "none"} : (!r) -> !torch.tensor<[2,3],f32>
  return
}

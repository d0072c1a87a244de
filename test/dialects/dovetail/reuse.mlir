// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s
//
// Catches a `reuse` that is dropped: its operand would live on; and one that is no longer shared.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: %{{.*}} = "dovetail.reuse"(%{{.*}}) : (!torch.vtensor<[4],f32>) -> !torch.tensor<[2],f64>
// CHECK-NEXT: %{{.*}} = "dovetail.reuse"(%{{.*}}, %{{.*}}) {shared} : (!torch.vtensor<[?],f32>, !torch.int) -> !torch.tensor<[?],f32>
func.func @round_trip(%m: !torch.vtensor<[4],f32>, %n: !torch.int, %o: !torch.vtensor<[?],f32>) {
  %0 = "dovetail.reuse"(%m) : (!torch.vtensor<[4],f32>) -> !torch.tensor<[2],f64>
  %1 = "dovetail.reuse"(%o, %n) {shared} : (!torch.vtensor<[?],f32>, !torch.int) -> !torch.tensor<[?],f32>
  return
}

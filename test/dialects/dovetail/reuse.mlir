// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s
//
// Catches a `reuse` that is dropped: its operand would live on.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: %{{.*}} = "dovetail.reuse"(%{{.*}}) : (!torch.vtensor<[4],f32>) -> !torch.tensor<[2],f64>
func.func @round_trip(%m: !torch.vtensor<[4],f32>) {
  %0 = "dovetail.reuse"(%m) : (!torch.vtensor<[4],f32>) -> !torch.tensor<[2],f64>
  return
}

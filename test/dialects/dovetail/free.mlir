// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s
//
// Catches a `free` that is dropped because nothing uses what it gives, or that moves up to a use.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: torch.copy.to_vtensor
// CHECK-NEXT: "dovetail.free"(%{{.*}}) : (!torch.tensor<[4],f32>) -> ()
func.func @round_trip(%m: !torch.tensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %0 = torch.copy.to_vtensor %m : !torch.vtensor<[4],f32>
  "dovetail.free"(%m) : (!torch.tensor<[4],f32>) -> ()
  return %0 : !torch.vtensor<[4],f32>
}

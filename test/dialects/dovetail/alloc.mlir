// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches an `alloc` that is merged with an equal one: two results of a region would share their memory.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: %{{.*}} = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS: %[[A:.*]] = "dovetail.alloc"
// EFFECTS: %[[B:.*]] = "dovetail.alloc"
// EFFECTS: return %[[A]], %[[B]]
!memory = !torch.tensor<[4],f32>
func.func @round_trip() -> (!memory, !memory) {
  %0 = "dovetail.alloc"() : () -> !memory
  %1 = "dovetail.alloc"() : () -> !memory
  return %0, %1 : !memory, !memory
}

// CHECK-LABEL: func.func @elsewhere(
// CHECK-NEXT: "dovetail.alloc"() {device = "cuda:1"} : () -> !torch.tensor<[4],f32>
func.func @elsewhere() -> !memory {
  %0 = "dovetail.alloc"() {device = "cuda:1"} : () -> !memory
  return %0 : !memory
}

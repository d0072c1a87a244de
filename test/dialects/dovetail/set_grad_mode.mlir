// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %s --pass-pipeline='canonicalize,cse' | FileCheck %s --check-prefix=EFFECTS
//
// Catches a `set_grad_mode` that loses `enabled = false` (falsy in Python), that is dropped because it has no result, or
// moved past another: the caller's code runs in the mode that the last one sets.

// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: "dovetail.set_grad_mode"() {enabled = false} : () -> ()
// CHECK-NEXT: "dovetail.set_grad_mode"() {enabled = true} : () -> ()
// EFFECTS-LABEL: func.func @round_trip(
// EFFECTS-NEXT: "dovetail.set_grad_mode"() {enabled = false}
// EFFECTS-NEXT: "dovetail.set_grad_mode"() {enabled = true}
// EFFECTS-NEXT: return
func.func @round_trip() {
  "dovetail.set_grad_mode"() {enabled = false} : () -> ()
  "dovetail.set_grad_mode"() {enabled = true} : () -> ()
  return
}

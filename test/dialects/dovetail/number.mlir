// RUN: dovetail-opt %s --split-input-file --verify-diagnostics -o %t
// RUN: dovetail-opt %t --split-input-file | diff %t -
// RUN: FileCheck %s < %t
//
// Catches a number that is read in memory of another type, where `item()` gives what its own type is not.

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[N:.*]]: !dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>, %[[S:.*]]: !dovetail.ref
// CHECK-NEXT: "dovetail.number"(%[[N]]) : (!dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>) -> !torch.int
// CHECK-NEXT: "dovetail.number"(%[[N]]) : (!dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>) -> !torch.bool
// CHECK-NEXT: "dovetail.number"(%[[S]]) : (!dovetail.ref<!torch.vtensor<[],f64>, strided<[]>>) -> !torch.float
!whole = !dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>
!real = !dovetail.ref<!torch.vtensor<[],f64>, strided<[]>>
func.func @round_trip(%n: !whole, %s: !real) -> (!torch.int, !torch.bool, !torch.float) {
  %0 = "dovetail.number"(%n) : (!whole) -> !torch.int
  %1 = "dovetail.number"(%n) : (!whole) -> !torch.bool
  %2 = "dovetail.number"(%s) : (!real) -> !torch.float
  return %0, %1, %2 : !torch.int, !torch.bool, !torch.float
}

// -----

!whole = !dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>
func.func @of_another_type(%n: !whole) -> !torch.float {
  // expected-error @below {{'dovetail.number' op expects an int or a bool in one int64, or a float in one float64, got '!dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>'}}
  %0 = "dovetail.number"(%n) : (!whole) -> !torch.float
  return %0 : !torch.float
}

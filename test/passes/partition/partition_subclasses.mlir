// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint},partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='compile' --run-check -o %t
//
// Catches wrapper subclasses that the caller passes or gets and that are forgotten once `@joint` is `@call`, or that
// `@forward`, which knows plain tensors only, is said to take.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @call(
  // CHECK-SAME: dovetail.arguments = [{attributes = ["a", "b"], class = "tensors:Two", context = "{'unit': (1, 'm')}", parts = [0, 1], size = [4], stride = [1], versions = 1 : i64}, 2]
  // CHECK-SAME: dovetail.results = [{argument = 0 : i64}, {attributes = ["a", "b"], class = "tensors:Two", context = "None", parts = [1, 0], size = [4], stride = [1]}, {result = 1 : i64}]
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: dovetail.arguments
  // CHECK-NOT: dovetail.results
  // CHECK-SAME: {
  func.func @joint(%a: !r, %b: !r, %c: !r) -> (!r, !r) attributes {
    dovetail.arguments = [{attributes = ["a", "b"], class = "tensors:Two", context = "{'unit': (1, 'm')}", parts = [0, 1], size = [4], stride = [1], versions = 1}, 2], dovetail.role = "joint",
    dovetail.results = [{argument = 0}, {attributes = ["a", "b"], class = "tensors:Two", context = "None", parts = [1, 0], size = [4], stride = [1]}, {result = 1}]
  } {
    %0 = "dovetail.read"(%a) : (!r) -> !v
    %1 = "dovetail.read"(%c) : (!r) -> !v
    %2 = torch.aten.exp %0 : !v -> !v
    "dovetail.write"(%2, %b) {mode = "hidden"} : (!v, !r) -> ()
    %3 = torch.aten.mul.Tensor %2, %1 : !v, !v -> !v
    %4 = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %5 = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %4, %5 : !r, !r
  }
}

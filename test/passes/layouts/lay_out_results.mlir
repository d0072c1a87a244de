// RUN: dovetail-opt %s --pass-pipeline='lay-out-results' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-results' --run-check -o %t
//
// Catches a result that is computed row by row and copied into eager's order; one whose operands all would have to be
// permuted; and values that others use too, computed twice.

!v = !torch.vtensor<[256,512],f32>
!t = !torch.vtensor<[512,256],f32>
!s = !torch.vtensor<[],f32>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!rt = !dovetail.ref<!t, strided<[256, 1]>>
!turned = !dovetail.ref<!t, strided<[1, 512]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rv, %y: !rt) -> (!turned, !turned, !turned, !turned) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %y) : (!rv, !rt) -> (!turned, !turned, !turned, !turned)
    return %0#0, %0#1, %0#2, %0#3 : !turned, !turned, !turned, !turned
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK:         %[[X:.*]] = "dovetail.read"(%arg0)
  // CHECK:         %[[Y:.*]] = "dovetail.read"(%arg1)
  func.func @forward(%x: !rv, %y: !rt) -> (!turned, !turned, !turned, !turned) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    %1 = "dovetail.read"(%y) : (!rt) -> !t
    // CHECK:         %[[KEPT:.*]] = torch.aten.permute %[[X]]
    // CHECK:         %[[USED:.*]] = torch.aten.exp %[[KEPT]]
    %2 = torch.aten.permute %0, %order : !v, !torch.list<int> -> !t
    %3 = torch.aten.exp %2 : !t -> !t
    // One permutation, of an argument instead of the result.
    // CHECK:         %[[TURNED:.*]] = torch.aten.permute %[[Y]], %{{.*}} : !torch.vtensor<[512,256],f32>
    // CHECK:         %[[SUM:.*]] = torch.aten.add.Tensor %[[X]], %[[TURNED]], %{{.*}} -> !torch.vtensor<[256,512],f32>
    // CHECK:         %[[ROOT:.*]] = torch.aten.sqrt %[[SUM]]
    // CHECK:         %[[RESULT:.*]] = torch.aten.permute %[[ROOT]]
    // CHECK:         "dovetail.own"(%[[RESULT]])
    %4 = torch.aten.permute %0, %order : !v, !torch.list<int> -> !t
    %5 = torch.aten.add.Tensor %4, %1, %one : !t, !t, !torch.int -> !t
    %6 = torch.aten.sqrt %5 : !t -> !t
    %7 = "dovetail.own"(%6) {requires_grad = false} : (!t) -> !turned
    // Used twice, so it stays, and its result is copied.
    // CHECK:         "dovetail.own"(%[[USED]])
    %8 = "dovetail.own"(%3) {requires_grad = false} : (!t) -> !turned
    // CHECK:         %[[BOTH:.*]] = torch.aten.mul.Tensor %[[Y]], %[[USED]]
    // CHECK:         "dovetail.own"(%[[BOTH]])
    %9 = torch.aten.mul.Tensor %1, %3 : !t, !t -> !t
    %10 = "dovetail.own"(%9) {requires_grad = false} : (!t) -> !turned
    // No permutation is left of one.
    // CHECK:         %[[NEGATED:.*]] = torch.aten.neg %[[X]]
    // CHECK:         %[[LAST:.*]] = torch.aten.permute %[[NEGATED]]
    // CHECK:         "dovetail.own"(%[[LAST]])
    %11 = torch.aten.permute %0, %order : !v, !torch.list<int> -> !t
    %12 = torch.aten.neg %11 : !t -> !t
    %13 = "dovetail.own"(%12) {requires_grad = false} : (!t) -> !turned
    return %7, %8, %10, %13 : !turned, !turned, !turned, !turned
  }
}

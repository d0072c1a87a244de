// RUN: dovetail-opt %s --pass-pipeline='keep-nan-tests' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='keep-nan-tests' --run-check -o %t
//
// Catches a test for NaN that stays an `eq` of one value, which torch-mlir folds to true; and comparisons of two values
// or of whole numbers that are rewritten without need.

!x = !torch.vtensor<[4],f32>
!n = !torch.vtensor<[4],si64>
!m = !torch.vtensor<[4],i1>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !dovetail.ref<!x, strided<[1]>>, %y: !dovetail.ref<!x, strided<[1]>>, %n: !dovetail.ref<!n, strided<[1]>>) -> (!dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x, %y, %n) : (!dovetail.ref<!x, strided<[1]>>, !dovetail.ref<!x, strided<[1]>>, !dovetail.ref<!n, strided<[1]>>) -> (!dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>)
    return %0#0, %0#1, %0#2 : !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>
  }
  func.func @forward(%x: !dovetail.ref<!x, strided<[1]>>, %y: !dovetail.ref<!x, strided<[1]>>, %n: !dovetail.ref<!n, strided<[1]>>) -> (!dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!dovetail.ref<!x, strided<[1]>>) -> !x
    %1 = "dovetail.read"(%y) : (!dovetail.ref<!x, strided<[1]>>) -> !x
    %2 = "dovetail.read"(%n) : (!dovetail.ref<!n, strided<[1]>>) -> !n
    %3:3 = call @forward_region_0(%0, %1, %2) : (!x, !x, !n) -> (!m, !m, !m)
    %o = "dovetail.own"(%3#0) {requires_grad = false} : (!m) -> !dovetail.ref<!m, strided<[1]>>
    %p = "dovetail.own"(%3#1) {requires_grad = false} : (!m) -> !dovetail.ref<!m, strided<[1]>>
    %q = "dovetail.own"(%3#2) {requires_grad = false} : (!m) -> !dovetail.ref<!m, strided<[1]>>
    return %o, %p, %q : !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>, !dovetail.ref<!m, strided<[1]>>
  }
  func.func private @forward_region_0(%x: !x, %y: !x, %n: !n) -> (!m, !m, !m) attributes {dovetail.role = "region"} {
    // CHECK: func.func private @forward_region_0(%[[X:.*]]: {{.*}}, %[[Y:.*]]: {{.*}}, %[[N:.*]]: {{.*}}) -> 
    // CHECK-NEXT: %[[TEST:.*]] = torch.aten.ge.Tensor %[[X]], %[[X]]
    // CHECK-NEXT: %[[TWO:.*]] = torch.aten.eq.Tensor %[[X]], %[[Y]]
    // CHECK-NEXT: %[[WHOLE:.*]] = torch.aten.eq.Tensor %[[N]], %[[N]]
    // CHECK-NEXT: return %[[TEST]], %[[TWO]], %[[WHOLE]]
    %0 = torch.aten.eq.Tensor %x, %x : !x, !x -> !m
    %1 = torch.aten.eq.Tensor %x, %y : !x, !x -> !m
    %2 = torch.aten.eq.Tensor %n, %n : !n, !n -> !m
    return %0, %1, %2 : !m, !m, !m
  }
}

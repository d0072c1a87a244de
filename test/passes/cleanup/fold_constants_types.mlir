// RUN: dovetail-opt %s --pass-pipeline='fold-constants,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-constants' --run-check -o %t
//
// Catches element types without a number (float8), truth values that stay bytes, a remainder with the dividend's sign,
// and folding of what numpy computes otherwise: sums of truth values, remainders by 0 and of floating-point numbers.

!i = !torch.vtensor<[4],si32>
!f = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[4],i1>
!u = !torch.vtensor<[4],ui8>
!e = !torch.vtensor<[4],f8E4M3FN>
!ri = !dovetail.ref<!i, strided<[1]>>
!rf = !dovetail.ref<!f, strided<[1]>>
!rb = !dovetail.ref<!b, strided<[1]>>
!re = !dovetail.ref<!e, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !rf) -> (!re, !rb, !ri, !ri, !rf, !rf, !rb) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %1 = torch.constant.int 1
    %3 = torch.constant.int 3
    %-4 = torch.constant.int -4
    %-7 = torch.constant.int -7
    %4 = torch.constant.int 4
    %11 = torch.constant.int 11
    %24 = torch.constant.int 24
    %half = torch.constant.float -2.500000e+00
    %v = "dovetail.read"(%x) : (!rf) -> !f
    %sizes = torch.prim.ListConstruct %4 : (!torch.int) -> !torch.list<int>

    // CHECK: %[[EIGHT:.*]] = torch.aten.full %{{.*}}, %int3, %int24{{.*}} -> !torch.vtensor<[4],f8E4M3FN>
    %eight = torch.aten.full_like %v, %3, %24, %none, %none, %false, %none
        : !f, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool, !torch.none -> !e
    // CHECK: %[[TRUTH:.*]] = torch.vtensor.literal(dense<[true, false, true, true]> : tensor<4xi1>)
    %bytes = torch.vtensor.literal(dense<[1, 0, 1, 200]> : tensor<4xui8>) : !u
    %truth = torch.prims.convert_element_type %bytes, %11 : !u, !torch.int -> !b
    // CHECK: %[[TWO:.*]] = torch.aten.full %{{.*}}, %int2, %int3
    %sevens = torch.aten.full %sizes, %-7, %3, %none, %none, %false
        : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %two = torch.aten.remainder.Scalar %sevens, %3 : !i, !torch.int -> !i
    // CHECK: %[[LISTED:.*]] = torch.vtensor.literal(dense<[-3, -2, 0, -1]> : tensor<4xsi32>)
    %numbers = torch.vtensor.literal(dense<[-7, -2, 4, 7]> : tensor<4xsi32>) : !i
    %listed = torch.aten.remainder.Scalar %numbers, %-4 : !i, !torch.int -> !i
    // CHECK: %[[TRUNCATED:.*]] = torch.aten.full %{{.*}}, %float-2.000000e00, %int6
    %halves = torch.aten.full %sizes, %half, %none, %none, %none, %false
        : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.bool -> !f
    %truncated = torch.aten.trunc %halves : !f -> !f
    // CHECK: %[[FRACTION:.*]] = torch.aten.remainder.Scalar
    %fraction = torch.aten.remainder.Scalar %halves, %3 : !f, !torch.int -> !f
    // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor %[[TRUTH]], %[[TRUTH]]
    %sum = torch.aten.add.Tensor %truth, %truth, %1 : !b, !b, !torch.int -> !b

    // CHECK: "dovetail.own"(%[[EIGHT]])
    // CHECK: "dovetail.own"(%[[TRUTH]])
    // CHECK: "dovetail.own"(%[[TWO]])
    // CHECK: "dovetail.own"(%[[LISTED]])
    // CHECK: "dovetail.own"(%[[TRUNCATED]])
    // CHECK: "dovetail.own"(%[[FRACTION]])
    // CHECK: "dovetail.own"(%[[SUM]])
    %o = "dovetail.own"(%eight) {requires_grad = false} : (!e) -> !re
    %p = "dovetail.own"(%truth) {requires_grad = false} : (!b) -> !rb
    %q = "dovetail.own"(%two) {requires_grad = false} : (!i) -> !ri
    %r = "dovetail.own"(%listed) {requires_grad = false} : (!i) -> !ri
    %s = "dovetail.own"(%truncated) {requires_grad = false} : (!f) -> !rf
    %t = "dovetail.own"(%fraction) {requires_grad = false} : (!f) -> !rf
    %u = "dovetail.own"(%sum) {requires_grad = false} : (!b) -> !rb
    return %o, %p, %q, %r, %s, %t, %u : !re, !rb, !ri, !ri, !rf, !rf, !rb
  }
}

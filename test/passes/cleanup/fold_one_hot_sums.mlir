// RUN: dovetail-opt %s --pass-pipeline='fold-one-hot-sums,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-one-hot-sums' --run-check -o %t
//
// Catches a classifier's gradient that reads each row to add up the one number in it; and sums that are taken for such
// though their rows hold other numbers, or several.

!v = !torch.vtensor<[4,8],f32>
!t = !torch.vtensor<[4,8],i1>
!s = !torch.vtensor<[4,1],f32>
!c = !torch.vtensor<[4,1],si64>
!rv = !dovetail.ref<!v, strided<[8, 1]>>
!rs = !dovetail.ref<!s, strided<[1, 1]>>
!rf = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
!rc = !dovetail.ref<!c, strided<[1, 1]>>
!rw = !dovetail.ref<!torch.vtensor<[8],f32>, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !rs, %y: !rv, %index: !rc) -> (!rs, !rf, !rs, !rs, !rs, !rw, !rs) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %8 = torch.constant.int 8
    %3 = torch.constant.int 3
    %zero = torch.constant.float 0.0
    %one = torch.constant.float 1.0
    %f32 = torch.constant.int 6
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %last = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK: %[[CLASS:.*]] = "dovetail.read"(%arg2)
    %a = "dovetail.read"(%x) : (!rs) -> !s
    %b = "dovetail.read"(%y) : (!rv) -> !v
    %class = "dovetail.read"(%index) : (!rc) -> !c
    %zeros = torch.aten.scalar_tensor %zero, %f32, %none, %none, %none : !torch.float, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],f32>
    %ones = torch.aten.scalar_tensor %one, %f32, %none, %none, %none : !torch.float, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],f32>
    %count = torch.aten.arange.start_step %0, %8, %1, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[8],si64>
    %from_one = torch.aten.add.Scalar %count, %1, %1 : !torch.vtensor<[8],si64>, !torch.int, !torch.int -> !torch.vtensor<[8],si64>
    // CHECK: %[[COUNTED:.*]] = torch.aten.ne.Scalar %[[CLASS]], %int3
    %hot = torch.aten.eq.Tensor %count, %class : !torch.vtensor<[8],si64>, !c -> !t
    %counted = torch.aten.ne.Scalar %class, %3 : !c, !torch.int -> !torch.vtensor<[4,1],i1>
    %both = torch.aten.bitwise_and.Tensor %hot, %counted : !t, !torch.vtensor<[4,1],i1> -> !t
    %rows = torch.aten.where.self %both, %a, %zeros : !t, !s, !torch.vtensor<[],f32> -> !v

    // COM: -0.0 of a row is 0.0 in its sum, and a class that the row does not have leaves it empty.
    // CHECK-DAG: %[[LEAST:.*]] = torch.aten.ge.Scalar %[[CLASS]], %int0
    // CHECK-DAG: %[[MOST:.*]] = torch.aten.lt.Scalar %[[CLASS]], %int8
    // CHECK: %[[IN:.*]] = torch.aten.bitwise_and.Tensor %[[LEAST]], %[[MOST]]
    // CHECK: %[[BOTH:.*]] = torch.aten.bitwise_and.Tensor %[[IN]], %[[COUNTED]]
    // CHECK: %[[CHOSEN:.*]] = torch.aten.where.self %[[BOTH]], %[[X]],
    // CHECK: %[[SUM:.*]] = torch.aten.add.Scalar %[[CHOSEN]], %float0.000000e00, %int1
    // CHECK: %[[FLAT:.*]] = torch.aten.reshape %[[SUM]]
    %sum = torch.aten.sum.dim_IntList %rows, %last, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %flat = torch.aten.sum.dim_IntList %rows, %last, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4],f32>

    // COM: As autocast has it.
    // CHECK: %[[NARROW:.*]] = torch.aten._to_copy %[[CHOSEN]], {{.*}} -> !torch.vtensor<[4,1],bf16>
    // CHECK: %[[WIDE:.*]] = torch.aten._to_copy %[[NARROW]], {{.*}} -> !torch.vtensor<[4,1],f32>
    // CHECK: torch.aten.add.Scalar %[[WIDE]], %float0.000000e00, %int1
    %bf16 = torch.constant.int 15
    %narrow = torch.aten._to_copy %rows, %bf16, %none, %none, %none, %false, %none : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[4,8],bf16>
    %wide = torch.aten._to_copy %narrow, %f32, %none, %none, %none, %false, %none : !torch.vtensor<[4,8],bf16>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %sum_of_wide = torch.aten.sum.dim_IntList %wide, %last, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s

    // COM: Each place of a row has a number of its own, or 1; places are counted from 1.
    // CHECK-COUNT-4: torch.aten.sum.dim_IntList
    %own = torch.aten.where.self %both, %b, %zeros : !t, !v, !torch.vtensor<[],f32> -> !v
    %sum_of_own = torch.aten.sum.dim_IntList %own, %last, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %filled = torch.aten.where.self %both, %a, %ones : !t, !s, !torch.vtensor<[],f32> -> !v
    %sum_of_filled = torch.aten.sum.dim_IntList %filled, %last, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %next = torch.aten.eq.Tensor %from_one, %class : !torch.vtensor<[8],si64>, !c -> !t
    %shifted = torch.aten.where.self %next, %a, %zeros : !t, !s, !torch.vtensor<[],f32> -> !v
    %sum_of_shifted = torch.aten.sum.dim_IntList %shifted, %last, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    // COM: Several rows may have a number at one place.
    %columns = torch.aten.sum.dim_IntList %rows, %first, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[8],f32>
    // CHECK: "dovetail.own"(%[[SUM]])
    // CHECK: "dovetail.own"(%[[FLAT]])
    %o = "dovetail.own"(%sum) {requires_grad = false} : (!s) -> !rs
    %p = "dovetail.own"(%flat) {requires_grad = false} : (!torch.vtensor<[4],f32>) -> !rf
    %q = "dovetail.own"(%sum_of_own) {requires_grad = false} : (!s) -> !rs
    %r = "dovetail.own"(%sum_of_filled) {requires_grad = false} : (!s) -> !rs
    %t = "dovetail.own"(%sum_of_shifted) {requires_grad = false} : (!s) -> !rs
    %w = "dovetail.own"(%columns) {requires_grad = false} : (!torch.vtensor<[8],f32>) -> !rw
    %u = "dovetail.own"(%sum_of_wide) {requires_grad = false} : (!s) -> !rs
    return %o, %p, %q, %r, %t, %w, %u : !rs, !rf, !rs, !rs, !rs, !rw, !rs
  }
}

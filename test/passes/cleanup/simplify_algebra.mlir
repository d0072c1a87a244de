// RUN: dovetail-opt %s --pass-pipeline='simplify-algebra,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='simplify-algebra' --run-check -o %t
//
// Catches arithmetic that stays though it changes nothing; and what is dropped though it changes -0.0, the element type,
// the shape or complex infinities.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!n = !torch.vtensor<[4],si64>
!rn = !dovetail.ref<!n, strided<[1]>>
!c = !torch.vtensor<[4],complex<f32>>
!rc = !dovetail.ref<!c, strided<[1]>>
!m = !torch.vtensor<[1,4],f32>
!mn = !torch.vtensor<[1,4],si64>
!d = !torch.vtensor<[4],f64>
!l = !torch.vtensor<[4,4],f32>
!rl = !dovetail.ref<!l, strided<[4, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !r, %y: !rn, %z: !rc) -> (!rl, !r, !r, !rn, !rc) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %4 = torch.constant.int 4
    %7 = torch.constant.int 7
    %11 = torch.constant.int 11
    %-1 = torch.constant.int -1
    %minus = torch.constant.float -0.000000e+00
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK: %[[Y:.*]] = "dovetail.read"(%arg1)
    // CHECK: %[[Z:.*]] = "dovetail.read"(%arg2)
    %v = "dovetail.read"(%x) : (!r) -> !v
    %n = "dovetail.read"(%y) : (!rn) -> !n
    %c = "dovetail.read"(%z) : (!rc) -> !c

    // COM: All of these are x.
    %s0 = torch.aten.mul.Scalar %v, %1 : !v, !torch.int -> !v
    %s1 = torch.aten.div.Scalar %s0, %1 : !v, !torch.int -> !v
    %s2 = torch.aten.sub.Scalar %s1, %0, %1 : !v, !torch.int, !torch.int -> !v
    %s3 = torch.aten.add.Scalar %s2, %minus, %1 : !v, !torch.float, !torch.int -> !v
    %s4 = torch.aten.neg %s3 : !v -> !v
    %s5 = torch.aten.neg %s4 : !v -> !v
    %s6 = torch.aten.pow.Tensor_Scalar %s5, %1 : !v, !torch.int -> !v
    %sizes = torch.prim.ListConstruct %4 : (!torch.int) -> !torch.list<int>
    %ones = torch.aten.full %sizes, %1, %none, %none, %none, %false
        : !torch.list<int>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool -> !v
    %s7 = torch.aten.mul.Tensor %ones, %s6 : !v, !v -> !v
    %s8 = torch.aten.div.Tensor %s7, %ones : !v, !v -> !v
    %positive = torch.aten.gt.Scalar %s8, %0 : !v, !torch.int -> !torch.vtensor<[4],i1>
    %s9 = torch.aten.where.self %positive, %s8, %s8 : !torch.vtensor<[4],i1>, !v, !v -> !v
    %flag = torch.aten.full %sizes, %1, %11, %none, %none, %false
        : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !torch.vtensor<[4],i1>
    %s10 = torch.aten.where.self %flag, %s9, %ones : !torch.vtensor<[4],i1>, !v, !v -> !v
    // CHECK: %[[RELU:.*]] = torch.aten.relu %[[X]]
    // CHECK-NEXT: %[[SQUARE:.*]] = torch.aten.mul.Tensor %[[RELU]], %[[RELU]]
    %s11 = torch.aten.relu %s10 : !v -> !v
    %s12 = torch.aten.relu %s11 : !v -> !v
    %square = torch.aten.pow.Tensor_Scalar %s12, %2 : !v, !torch.int -> !v

    // COM: These are not: -0.0 + 0 is 0.0, as is -0.0 - 0 * -1; 1 / x; another element type.
    // CHECK: %[[ADDED:.*]] = torch.aten.add.Scalar %[[SQUARE]]
    // CHECK: %[[TAKEN:.*]] = torch.aten.sub.Scalar %[[ADDED]]
    // CHECK: %[[REVERSED:.*]] = torch.aten.div.Tensor %{{.*}}, %[[TAKEN]]
    // CHECK: %[[WIDE:.*]] = torch.aten.mul.Tensor %[[REVERSED]]
    %k0 = torch.aten.add.Scalar %square, %0, %1 : !v, !torch.int, !torch.int -> !v
    %k1 = torch.aten.sub.Scalar %k0, %0, %-1 : !v, !torch.int, !torch.int -> !v
    %k2 = torch.aten.div.Tensor %ones, %k1 : !v, !v -> !v
    %wideones = torch.aten.full %sizes, %1, %7, %none, %none, %false
        : !torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !d
    %k3 = torch.aten.mul.Tensor %k2, %wideones : !v, !d -> !d
    // COM: A sum of one element is 0.0 for -0.0; the largest of one element is that.
    // CHECK: %[[ROW:.*]] = torch.aten.view %[[X]]
    // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[ROW]]
    %rows = torch.prim.ListConstruct %1, %4 : (!torch.int, !torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
    %row = torch.aten.view %v, %rows : !v, !torch.list<int> -> !m
    %sum = torch.aten.sum.dim_IntList %row, %first, %false, %none
        : !m, !torch.list<int>, !torch.bool, !torch.none -> !v
    %most0 = torch.aten.amax %row, %first, %true : !m, !torch.list<int>, !torch.bool -> !m
    %most = torch.aten.view %most0, %sizes : !m, !torch.list<int> -> !v
    %6 = torch.constant.int 6
    %back = torch.aten._to_copy %k3, %6, %none, %none, %none, %false, %none
        : !d, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    // CHECK: %[[MOST:.*]] = torch.aten.view %[[ROW]]
    // CHECK: torch.aten.add.Tensor %[[X]], %[[SUM]]
    // CHECK: torch.aten.mul.Tensor %[[MOST]]
    %k4 = torch.aten.add.Tensor %s10, %sum, %1 : !v, !v, !torch.int -> !v
    %k5 = torch.aten.mul.Tensor %most, %k4 : !v, !v -> !v

    // COM: A choice of one smaller tensor is as large as it would be.
    // CHECK: %[[LARGE:.*]] = torch.aten.expand %[[X]]
    %high = torch.prim.ListConstruct %4, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %column = torch.aten.view %n, %high : !n, !torch.list<int> -> !torch.vtensor<[4,1],si64>
    %choice = torch.aten.gt.Scalar %column, %0 : !torch.vtensor<[4,1],si64>, !torch.int -> !torch.vtensor<[4,1],i1>
    %large = torch.aten.where.self %choice, %v, %v : !torch.vtensor<[4,1],i1>, !v, !v -> !l

    // COM: Integers have no -0.0.
    // CHECK: %[[INTEGERS:.*]] = torch.aten.abs %[[Y]]
    %n0 = torch.aten.add.Scalar %n, %0, %1 : !n, !torch.int, !torch.int -> !n
    %n1 = torch.aten.abs %n0 : !n -> !n
    // COM: Infinity times one is infinity and a NaN.
    // CHECK: %[[COMPLEX:.*]] = torch.aten.mul.Scalar %[[Z]]
    %c0 = torch.aten.mul.Scalar %c, %1 : !c, !torch.int -> !c

    // CHECK: "dovetail.own"(%[[LARGE]])
    // CHECK: "dovetail.own"(%[[INTEGERS]])
    // CHECK: "dovetail.own"(%[[COMPLEX]])
    %t = "dovetail.own"(%large) {requires_grad = false} : (!l) -> !rl
    %o = "dovetail.own"(%k5) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%back) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%n1) {requires_grad = false} : (!n) -> !rn
    %s = "dovetail.own"(%c0) {requires_grad = false} : (!c) -> !rc
    return %t, %o, %p, %q, %s : !rl, !r, !r, !rn, !rc
  }
}

// RUN: dovetail-opt %s --pass-pipeline='sink-gathers' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='sink-gathers' --run-check -o %t
//
// Catches all logarithms of a softmax computed for one of each row, or written to memory for it; and two computations of what others use as well, two
// gathers for one, and a second computation of what is computed once.

!v = !torch.vtensor<[8,64],f32>
!r = !torch.vtensor<[8,1],f32>
!i = !torch.vtensor<[8,1],si64>
!rv = !dovetail.ref<!v, strided<[64, 1]>>
!rr = !dovetail.ref<!r, strided<[1, 1]>>
!rb = !dovetail.ref<!torch.vtensor<[8,1],bf16>, strided<[1, 1]>>
!ri = !dovetail.ref<!i, strided<[1, 1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK:         %[[X:.*]] = "dovetail.read"(%arg0)
  // CHECK:         %[[Y:.*]] = "dovetail.read"(%arg1)
  // CHECK:         %[[M:.*]] = "dovetail.read"(%arg2)
  // CHECK:         %[[I:.*]] = "dovetail.read"(%arg3)
  func.func @joint(%x: !rv, %y: !rv, %m: !rr, %i: !ri) -> (!rr, !rr, !rr, !rr, !rv, !rr, !rv, !rb) attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    %1 = "dovetail.read"(%y) : (!rv) -> !v
    %2 = "dovetail.read"(%m) : (!rr) -> !r
    %3 = "dovetail.read"(%i) : (!ri) -> !i
    // CHECK:         %[[FEW:.*]] = torch.aten.gather %[[X]], %{{.*}}, %[[I]], %{{.*}} -> !torch.vtensor<[8,1],f32>
    // CHECK-NEXT:    %[[LESS:.*]] = torch.aten.sub.Tensor %[[FEW]], %[[M]], %{{.*}} -> !torch.vtensor<[8,1],f32>
    // CHECK-NEXT:    %[[PRODUCT:.*]] = torch.aten.mul.Tensor %[[LESS]], %[[FEW]]
    // CHECK-NEXT:    "dovetail.own"(%[[PRODUCT]])
    %4 = torch.aten.sub.Tensor %0, %2, %one : !v, !r, !torch.int -> !v
    %5 = torch.aten.mul.Tensor %4, %0 : !v, !v -> !v
    %6 = torch.aten.gather %5, %one, %3, %false : !v, !torch.int, !i, !torch.bool -> !r
    %7 = "dovetail.own"(%6) {requires_grad = false} : (!r) -> !rr
    // CHECK:         %[[OTHERS:.*]] = torch.aten.exp
    // CHECK:         torch.aten.gather %[[OTHERS]]
    %8 = torch.aten.exp %0 : !v -> !v
    %9 = torch.aten.gather %8, %one, %3, %false : !v, !torch.int, !i, !torch.bool -> !r
    %10 = "dovetail.own"(%8) {requires_grad = false} : (!v) -> !rv
    %11 = "dovetail.own"(%9) {requires_grad = false} : (!r) -> !rr
    // CHECK:         %[[TWO:.*]] = torch.aten.add.Tensor %[[X]], %[[Y]]
    // CHECK:         torch.aten.gather %[[TWO]]
    %12 = torch.aten.add.Tensor %0, %1, %one : !v, !v, !torch.int -> !v
    %13 = torch.aten.gather %12, %one, %3, %false : !v, !torch.int, !i, !torch.bool -> !r
    %14 = "dovetail.own"(%13) {requires_grad = false} : (!r) -> !rr
    // CHECK:         %[[PINNED:.*]] = torch.aten.neg %[[X]] {dovetail.pinned}
    // CHECK:         torch.aten.gather %[[PINNED]]
    %15 = torch.aten.neg %0 {dovetail.pinned} : !v -> !v
    %16 = torch.aten.gather %15, %one, %3, %false : !v, !torch.int, !i, !torch.bool -> !r
    %17 = "dovetail.own"(%16) {requires_grad = false} : (!r) -> !rr
    // CHECK-DAG:     %[[FEWER:.*]] = torch.aten.gather %[[Y]], %{{.*}}, %[[I]], %{{.*}} -> !torch.vtensor<[8,1],f32>
    // CHECK-DAG:     torch.aten.mul.Tensor %[[FEWER]], %[[FEWER]]
    // CHECK-DAG:     %[[ALL:.*]] = torch.aten.mul.Tensor %[[Y]], %[[Y]]
    // CHECK:         torch.aten.exp %[[ALL]]
    %18 = torch.aten.mul.Tensor %1, %1 : !v, !v -> !v
    %19 = torch.aten.gather %18, %one, %3, %false : !v, !torch.int, !i, !torch.bool -> !r
    %20 = torch.aten.exp %18 : !v -> !v
    %21 = "dovetail.own"(%19) {requires_grad = false} : (!r) -> !rr
    %22 = "dovetail.own"(%20) {requires_grad = false} : (!v) -> !rv
    // COM: A conversion is computed of gathered elements, too.
    // CHECK:         %[[NARROW:.*]] = torch.aten.gather %[[Y]], %{{.*}}, %[[I]], %{{.*}} -> !torch.vtensor<[8,1],f32>
    // CHECK-NEXT:    torch.aten._to_copy %[[NARROW]], {{.*}} -> !torch.vtensor<[8,1],bf16>
    %none = torch.constant.none
    %bf16 = torch.constant.int 15
    %23 = torch.aten._to_copy %1, %bf16, %none, %none, %none, %false, %none : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !torch.vtensor<[8,64],bf16>
    %24 = torch.aten.gather %23, %one, %3, %false : !torch.vtensor<[8,64],bf16>, !torch.int, !i, !torch.bool -> !torch.vtensor<[8,1],bf16>
    %25 = "dovetail.own"(%24) {requires_grad = false} : (!torch.vtensor<[8,1],bf16>) -> !rb
    return %7, %11, %14, %17, %10, %21, %22, %25 : !rr, !rr, !rr, !rr, !rv, !rr, !rv, !rb
  }
}

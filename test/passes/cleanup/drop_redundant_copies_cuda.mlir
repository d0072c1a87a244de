// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies' --run-check -o %t
//
// Catches a conversion that names the device it is on, as autocast's backward has them: sums of one-hot rows were not
// folded behind it. And one to another device that is taken for such.

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[4],bf16>
!rv = !dovetail.ref<!v, strided<[1]>>
!rb = !dovetail.ref<!b, strided<[1]>>
!rb1 = !dovetail.ref<!b, #dovetail.layout<strided<[1]>, "cpu">>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !rv) -> (!rb, !rb1) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %zero = torch.constant.int 0
    %bfloat = torch.constant.int 15
    %here = torch.constant.device "cuda:0"
    %there = torch.constant.device "cpu"
    // CHECK: %[[THERE:.*]] = torch.constant.device "cpu"
    // CHECK: %[[X:.*]] = "dovetail.read"
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    // CHECK: torch.aten._to_copy %[[X]], %{{[^,]*}}, %[[NONE:none[^,]*]], %[[NONE]], %[[NONE]],
    %1 = torch.aten._to_copy %0, %bfloat, %zero, %here, %none, %false, %none
        : !v, !torch.int, !torch.int, !torch.Device, !torch.none, !torch.bool, !torch.none -> !b
    // CHECK: torch.aten._to_copy %[[X]], %{{[^,]*}}, %{{[^,]*}}, %[[THERE]],
    %2 = torch.aten._to_copy %0, %bfloat, %zero, %there, %none, %false, %none
        : !v, !torch.int, !torch.int, !torch.Device, !torch.none, !torch.bool, !torch.none -> !b
    %3 = "dovetail.own"(%1) {requires_grad = false} : (!b) -> !rb
    %4 = "dovetail.own"(%2) {requires_grad = false} : (!b) -> !rb1
    return %3, %4 : !rb, !rb1
  }
}

// RUN: dovetail-opt %s --pass-pipeline='raise-slices' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='raise-slices,verify-comparisons,lower-regions' --run-check -o %t
//
// Catches a value that is compared with itself, and of whose two operands each gets a slice of its own.

!x = !torch.vtensor<[8,64],f32>
!h = !torch.vtensor<[8,32],f32>
!m = !torch.vtensor<[8,64],i1>
!b = !torch.vtensor<[8,32],i1>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!rb = !dovetail.ref<!b, strided<[32, 1]>>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx) -> !rb attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!rx) -> !rb
    return %0 : !rb
  }
  func.func @forward(%x: !rx) -> !rb attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = call @region(%0) : (!x) -> !b
    %2 = "dovetail.own"(%1) {requires_grad = false} : (!b) -> !rb
    return %2 : !rb
  }
  // CHECK-LABEL: func.func private @region(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[8,64],f32>
  func.func private @region(%x: !x) -> !b attributes {dovetail.role = "region"} {
    // CHECK: %[[S:.*]] = torch.aten.sin %[[X]]
    // CHECK: %[[PART:.*]] = torch.aten.slice.Tensor %[[S]],
    // CHECK-NOT: torch.aten.slice.Tensor
    // CHECK: torch.aten.eq.Tensor %[[PART]], %[[PART]]
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.int 32
    %0 = torch.aten.sin %x : !x -> !x
    %1 = torch.aten.eq.Tensor %0, %0 : !x, !x -> !m
    %2 = torch.aten.slice.Tensor %1, %one, %zero, %half, %one : !m, !torch.int, !torch.int, !torch.int, !torch.int -> !b
    return %2 : !b
  }
}

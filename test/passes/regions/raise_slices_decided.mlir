// RUN: dovetail-opt %s --pass-pipeline='raise-slices' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='raise-slices,verify-comparisons,lower-regions' --run-check -o %t
//
// Catches two computations of a value of which two parts are compared: a last bit would decide.

!x = !torch.vtensor<[8,64],f32>
!h = !torch.vtensor<[8,32],f32>
!b = !torch.vtensor<[8,32],i1>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!rh = !dovetail.ref<!h, strided<[32, 1]>>
!rb = !dovetail.ref<!b, strided<[32, 1]>>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx) -> (!rb, !rh) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!rx) -> (!rb, !rh)
    return %0#0, %0#1 : !rb, !rh
  }
  func.func @forward(%x: !rx) -> (!rb, !rh) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1:2 = call @region(%0) : (!x) -> (!b, !h)
    %2 = "dovetail.own"(%1#0) {requires_grad = false} : (!b) -> !rb
    %3 = "dovetail.own"(%1#1) {requires_grad = false} : (!h) -> !rh
    return %2, %3 : !rb, !rh
  }
  // CHECK-LABEL: func.func private @region(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[8,64],f32>
  func.func private @region(%x: !x) -> (!b, !h) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.int 32
    %end = torch.constant.int 64
    // CHECK: %[[S:.*]] = torch.aten.sin %[[X]]
    // CHECK: torch.aten.slice.Tensor %[[S]],
    %0 = torch.aten.sin %x : !x -> !x
    %1 = torch.aten.slice.Tensor %0, %one, %zero, %half, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %2 = torch.aten.ne.Scalar %1, %zero : !h, !torch.int -> !b
    // COM: Nothing is decided by the cosine.
    // CHECK: %[[P:.*]] = torch.aten.slice.Tensor %[[X]],
    // CHECK: torch.aten.cos %[[P]]
    %3 = torch.aten.cos %x : !x -> !x
    %4 = torch.aten.slice.Tensor %3, %one, %half, %end, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    return %2, %4 : !b, !h
  }
}

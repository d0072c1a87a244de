// RUN: dovetail-opt %s --pass-pipeline='call-small-regions,verify-level{level=program}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=call-small-regions --run-check -o %t
//
// Catches a launch that costs more than the work, and library calls in place of regions that are worth their launch: of
// much data, of three ops, or beside no library call.

!v = !torch.vtensor<[4,4],f32>
!big = !torch.vtensor<[512,512],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rbig = !dovetail.ref<!big, strided<[512, 1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !rbig) -> (!r, !rbig, !r, !r) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %y) : (!r, !rbig) -> (!r, !rbig, !r, !r)
    return %0#0, %0#1, %0#2, %0#3 : !r, !rbig, !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[MM:.*]] = torch.operator "torch.aten.mm"
  // COM: The view between them does not hide the library call.
  // CHECK: %[[T:.*]] = torch.aten.transpose.int %[[MM]]
  // CHECK: %[[SUM:.*]] = torch.operator "torch.aten.add.Tensor"(%[[T]], %[[MM]], %{{.*}}) {dovetail.reason = "small: 2.2 us as library calls, 2.4 us as a region"}
  // CHECK: call @forward_region_1(
  // CHECK: call @forward_region_2(
  // CHECK: call @forward_region_3(
  // CHECK: "dovetail.own"(%[[SUM]])
  func.func @forward(%x: !r, %y: !rbig) -> (!r, !rbig, !r, !r) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!rbig) -> !big
    %2 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "library kernel: contraction"} : (!v, !v) -> !v
    %t = torch.aten.transpose.int %2, %zero, %one : !v, !torch.int, !torch.int -> !v
    %3 = torch.operator "torch.aten.mm"(%1, %1) {dovetail.reason = "library kernel: contraction"} : (!big, !big) -> !big
    %4 = call @forward_region_0(%t, %2) : (!v, !v) -> !v
    %5 = call @forward_region_1(%3) : (!big) -> !big
    %6 = call @forward_region_2(%2) : (!v) -> !v
    %7 = call @forward_region_3(%0, %0) : (!v, !v) -> !v
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%5) {requires_grad = false} : (!big) -> !rbig
    %q = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    return %o, %p, %q, %s : !r, !rbig, !r, !r
  }
  // CHECK-NOT: @forward_region_0(
  func.func private @forward_region_0(%x: !v, %y: !v) -> !v attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %x, %y, %one : !v, !v, !torch.int -> !v
    return %0 : !v
  }
  func.func private @forward_region_1(%x: !big) -> !big attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !big -> !big
    %1 = torch.aten.neg %0 : !big -> !big
    return %1 : !big
  }
  func.func private @forward_region_2(%x: !v) -> !v attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.neg %0 : !v -> !v
    %2 = torch.aten.abs %1 : !v -> !v
    return %2 : !v
  }
  func.func private @forward_region_3(%x: !v, %y: !v) -> !v attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %x, %y, %one : !v, !v, !torch.int -> !v
    return %0 : !v
  }
}

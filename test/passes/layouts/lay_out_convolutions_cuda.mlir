// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
//
// Catches half precision in rows on a GPU, whose tensor cores read it channels last; its weights, cast to rows; and single
// precision that is laid out for nothing.
// COM: What these convolutions compute takes a CPU minutes; lay_out_convolutions_kept.mlir compares such chains.

!x = !torch.vtensor<[64,64,56,56],f32>
!h = !torch.vtensor<[64,64,56,56],f16>
!w = !torch.vtensor<[64,64,3,3],f32>
!v = !torch.vtensor<[64,64,3,3],f16>
!rx = !dovetail.ref<!x, strided<[200704, 3136, 56, 1]>>
!rh = !dovetail.ref<!h, strided<[200704, 3136, 56, 1]>>
!rw = !dovetail.ref<!w, strided<[576, 9, 3, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg0: !rx, %arg1: !rh, %arg2: !rw) -> (!rx, !rh) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %5 = torch.constant.int 5
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %h = "dovetail.read"(%arg1) : (!rh) -> !h
    // CHECK: %[[W:.*]] = "dovetail.read"(%arg2)
    %w = "dovetail.read"(%arg2) : (!rw) -> !w
    // COM: Weights are cast in the order that the library takes.
    // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[W]],
    // CHECK: %[[CAST:.*]] = torch.aten._to_copy %[[TURNED]], {{.*}} -> !torch.vtensor<[64,3,3,64],f16>
    // CHECK: %[[BACK:.*]] = torch.aten.permute %[[CAST]],
    %v = torch.aten._to_copy %w, %5, %none, %none, %none, %false, %none : !w, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    // CHECK: torch.aten.convolution %{{.*}}, %[[BACK]], {{.*}} {dovetail.strides = {{.*}}f16>
    // CHECK: torch.aten.convolution %{{.*}}, %[[BACK]], {{.*}} {dovetail.strides = {{.*}}f16>
    // CHECK: torch.aten.convolution %{{.*}}, %[[BACK]], {{.*}} {dovetail.strides = {{.*}}f16>
    // CHECK-NOT: dovetail.strides
    %3 = torch.aten.convolution %h, %v, %none, %ones, %ones, %ones, %false, %zeros, %1 : !h, !v, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !h
    %4 = torch.aten.convolution %3, %v, %none, %ones, %ones, %ones, %false, %zeros, %1 : !h, !v, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !h
    %9 = torch.aten.convolution %4, %v, %none, %ones, %ones, %ones, %false, %zeros, %1 : !h, !v, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !h
    %6 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %7 = torch.aten.convolution %6, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %8 = "dovetail.own"(%7) {requires_grad = false} : (!x) -> !rx
    %10 = "dovetail.own"(%9) {requires_grad = false} : (!h) -> !rh
    return %8, %10 : !rx, !rh
  }
}

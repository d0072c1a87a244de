// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions' | FileCheck %s --check-prefix=ONCE
// RUN: sed 's/%arg1) : (!w/%arg1) {dovetail.gradient_strides = array<i64: 144, 1, 48, 16>} : (!w/' %s | dovetail-opt - --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s --check-prefix=STATED
//
// Catches convolutions in a chain whose images are copied between them, or go to the library in rows; results and
// gradients that the user would get channels last; a bias gradient that the library adds up; an order of dimensions that
// is built for each permutation anew, which later passes walk over; a filter's gradient in rows that eager hands out
// channels last, as it states.
// COM: Sums of products round otherwise channels last; test_lay_out_convolutions.py holds them against double precision.

!x = !torch.vtensor<[8,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!c = !torch.vtensor<[16],f32>
!k = !torch.vtensor<[1,16,1,1],f32>
!i = !torch.vtensor<[8,16,32,32],i1>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>
!rc = !dovetail.ref<!c, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // ONCE-LABEL: func.func @joint(
  // ONCE: %[[ZERO:.*]] = torch.constant.int 0
  // ONCE-NOT: torch.constant.int 0
  // ONCE: %[[ORDER:.*]] = torch.prim.ListConstruct %[[ZERO]], %{{.*}}, %{{.*}}, %{{.*}} : (!torch.int, !torch.int, !torch.int, !torch.int)
  // ONCE-NOT: torch.constant.int 0
  // ONCE: torch.aten.permute %{{.*}}, %[[ORDER]] {dovetail.shows_rows}
  // ONCE-NOT: torch.constant.int 0
  // ONCE: torch.aten.permute %{{.*}}, %[[ORDER]] {dovetail.shows_rows}
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg0: !rx, %arg1: !rw, %arg2: !rc) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %16 = torch.constant.int 16
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %pixels = torch.prim.ListConstruct %0, %2, %3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %bias = torch.prim.ListConstruct %16 : (!torch.int) -> !torch.list<int>
    %all = torch.prim.ListConstruct %true, %true, %true : (!torch.bool, !torch.bool, !torch.bool) -> !torch.list<bool>
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK: %[[W:.*]] = "dovetail.read"(%arg1)
    // CHECK: %[[B:.*]] = "dovetail.read"(%arg2)
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %b = "dovetail.read"(%arg2) : (!rc) -> !c

    // COM: Few channels and filters a region turns, once for both halves; what the call gives lies as it is permuted.
    // CHECK: %[[XP:.*]] = torch.aten.permute %[[X]], {{.*}} -> !torch.vtensor<[8,32,32,16],f32>
    // CHECK: %[[XL:.*]] = torch.aten.clone %[[XP]], {{.*}} {dovetail.turned}
    // CHECK: %[[XT:.*]] = torch.aten.permute %[[XL]], {{.*}} -> !torch.vtensor<[8,16,32,32],f32>
    // CHECK: %[[WP:.*]] = torch.aten.permute %[[W]], {{.*}} -> !torch.vtensor<[16,3,3,16],f32>
    // CHECK: %[[WL:.*]] = torch.aten.clone %[[WP]], {{.*}} {dovetail.turned}
    // CHECK: %[[WT:.*]] = torch.aten.permute %[[WL]], {{.*}} -> !torch.vtensor<[16,16,3,3],f32>
    // CHECK: %[[FIRST:.*]] = torch.aten.convolution %[[XT]], %[[WT]], %[[B]], {{.*}} {dovetail.strides = [array<i64: 16384, 1, 512, 16>, unit, unit,
    // CHECK: %[[Y:.*]] = torch.aten.permute %[[FIRST]], %{{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[8,32,32,16],f32>
    %4 = torch.aten.convolution %x, %w, %b, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !c, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // COM: Sums and elements are computed in the order of memory.
    // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[Y]], {{.*}} -> !torch.vtensor<[1,1,1,16],f32>
    // CHECK: %[[LESS:.*]] = torch.aten.sub.Tensor %[[Y]], %[[SUM]], {{.*}} -> !torch.vtensor<[8,32,32,16],f32>
    // CHECK: %[[RELU:.*]] = torch.aten.relu %[[LESS]] : !torch.vtensor<[8,32,32,16],f32>
    %5 = torch.aten.sum.dim_IntList %4, %pixels, %true, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !k
    %6 = torch.aten.sub.Tensor %4, %5, %1 : !x, !k, !torch.int -> !x
    %7 = torch.aten.relu %6 : !x -> !x
    // CHECK: %[[BACK:.*]] = torch.aten.permute %[[RELU]], {{.*}} -> !torch.vtensor<[8,16,32,32],f32>
    // CHECK: %[[SECOND:.*]] = torch.aten.convolution %[[BACK]], %[[WT]], {{.*}} {dovetail.strides = [array<i64: 16384, 1, 512, 16>, unit,
    // CHECK: %[[Z:.*]] = torch.aten.permute %[[SECOND]], %{{.*}} {dovetail.shows_rows}
    %8 = torch.aten.convolution %7, %w, %b, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !c, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x

    // COM: What the user alone reads is computed in rows.
    // CHECK: %[[ROWS:.*]] = torch.aten.permute %[[Z]],
    // CHECK: %[[TANH:.*]] = torch.aten.tanh %[[ROWS]] : !torch.vtensor<[8,16,32,32],f32>
    // CHECK: "dovetail.own"(%[[TANH]])
    %9 = torch.aten.tanh %8 : !x -> !x
    %10 = "dovetail.own"(%9) {requires_grad = true} : (!x) -> !rx
    %11 = "dovetail.tangent"(%10) : (!rx) -> !rx
    %12 = "dovetail.read"(%11) : (!rx) -> !x

    // COM: The gradient of the bias is a sum of our own; the user gets the other two in rows.
    // CHECK: %[[FLAGS:.*]] = torch.prim.ListConstruct %true, %true, %false
    // CHECK: %[[DX:.*]], %[[DW:.*]], %{{.*}} = torch.aten.convolution_backward %{{.*}}, %[[BACK]], %[[WT]], {{.*}}, %[[FLAGS]] {dovetail.strides = [array<i64: 16384, 1, 512, 16>, array<i64: 16384, 1, 512, 16>, unit,
    // CHECK: %[[DB:.*]] = torch.aten.sum.dim_IntList %{{.*}} -> !torch.vtensor<[16],f32>
    // CHECK: %[[DWN:.*]] = torch.aten.permute %[[DW]], %{{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[16,3,3,16],f32>
    // CHECK: %[[DWB:.*]] = torch.aten.permute %[[DWN]],
    // CHECK: %[[DWR:.*]] = torch.aten.clone %[[DWB]], %int0
    %13:3 = torch.aten.convolution_backward %12, %7, %w, %bias, %ones, %ones, %ones, %false, %zeros, %1, %all : !x, !x, !w, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int, !torch.list<bool> -> !x, !w, !c
    // CHECK: %[[MASK:.*]] = torch.aten.le.Scalar %[[RELU]], {{.*}} -> !torch.vtensor<[8,32,32,16],i1>
    // CHECK: %[[G:.*]] = torch.aten.mul.Tensor %[[MASK]], {{.*}} -> !torch.vtensor<[8,32,32,16],f32>
    %14 = torch.aten.le.Scalar %7, %0 : !x, !torch.int -> !i
    %15 = torch.aten.mul.Tensor %14, %13#0 : !i, !x -> !x
    // CHECK: torch.aten.convolution_backward %{{.*}}, %[[XT]], %[[WT]],
    %17:3 = torch.aten.convolution_backward %15, %x, %w, %bias, %ones, %ones, %ones, %false, %zeros, %1, %all : !x, !x, !w, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int, !torch.list<bool> -> !x, !w, !c
    // CHECK: "dovetail.gradient"(%[[DWR]], %arg1)
    // STATED: %{{.*}}, %[[DW:.*]], %{{.*}} = torch.aten.convolution_backward
    // STATED: "dovetail.gradient"(%[[DW]], %arg1) {dovetail.gradient_strides
    // CHECK: "dovetail.gradient"(%[[DB]], %arg2)
    "dovetail.gradient"(%13#1, %arg1) : (!w, !rw) -> ()
    "dovetail.gradient"(%13#2, %arg2) : (!c, !rc) -> ()
    "dovetail.gradient"(%17#0, %arg0) : (!x, !rx) -> ()
    return %10 : !rx
  }
}

// RUN: dovetail-opt %s --split-input-file --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
//
// Catches single precision that stays in rows where a GPU's tensor cores may round it; filters that ATen lays channels last
// in each half; and a norm whose moments are ATen's, which takes four times as long of images that lie so, or a mean that
// its sum's rounding leaves off.
// COM: Sums of products round otherwise channels last; test_batch_norm.py holds them against double precision.

!x = !torch.vtensor<[256,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!c = !torch.vtensor<[1,16,1,1],f32>
!d = !torch.vtensor<[16],f32>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>
!rd = !dovetail.ref<!d, strided<[1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.tf32} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg0: !rx, %arg1: !rw) -> (!rx, !rd, !rd) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %pixels = torch.prim.ListConstruct %0, %2, %3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    // CHECK: %[[W:.*]] = "dovetail.read"(%arg1)
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    // COM: Filters and images of few channels are turned, once.
    // CHECK: torch.aten.permute %[[X]],
    // CHECK: %[[SHOWN:.*]] = torch.aten.clone {{.*}} -> !torch.vtensor<[256,32,32,16],f32>
    // CHECK: %[[IMAGES:.*]] = torch.aten.permute %[[SHOWN]],
    // CHECK: torch.aten.permute %[[W]],
    // CHECK: %[[LAST:.*]] = torch.aten.clone {{.*}} -> !torch.vtensor<[16,3,3,16],f32>
    // CHECK: %[[FILTER:.*]] = torch.aten.permute %[[LAST]],
    // CHECK: torch.aten.convolution %[[IMAGES]], %[[FILTER]], {{.*}} {dovetail.strides = [array<i64: 16384, 1, 512, 16>, unit,
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // COM: Two sums of one kernel, of deviations from the mean of some of each part.
    // CHECK: %[[Y:.*]] = torch.aten.permute {{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[256,32,32,16],f32>
    // CHECK-NOT: var_mean
    // CHECK: %[[APART:.*]] = torch.aten.reshape %[[Y]], {{.*}} -> !torch.vtensor<[1024,64,4,16],f32>
    // CHECK: %[[FIRST:.*]] = torch.aten.slice.Tensor %[[APART]], %int2, %int0, %int1, %int1
    // CHECK: %[[SOME:.*]] = torch.aten.reshape %[[FIRST]], {{.*}} -> !torch.vtensor<[1024,64,16],f32>
    // CHECK: %[[SUM_OF_SOME:.*]] = torch.aten.sum.dim_IntList %[[SOME]],
    // CHECK: %[[NEAR:.*]] = torch.aten.div.Scalar %[[SUM_OF_SOME]], %float6.400000e01 :
    // CHECK: %[[PARTS:.*]] = torch.aten.reshape %[[Y]], {{.*}} -> !torch.vtensor<[1024,256,16],f32>
    // CHECK: %[[FAR:.*]] = torch.aten.sub.Tensor %[[PARTS]], %[[NEAR]],
    // CHECK: %[[SUM_OF_FAR:.*]] = torch.aten.sum.dim_IntList %[[FAR]], {{.*}} -> !torch.vtensor<[1024,1,16],f32>
    // CHECK: %[[BESIDE:.*]] = torch.aten.div.Scalar %[[SUM_OF_FAR]], %[[PART:.*]] :
    // CHECK: %[[SQUARED:.*]] = torch.aten.mul.Tensor %[[FAR]], %[[FAR]]
    // CHECK: %[[SUM_OF_SQUARED:.*]] = torch.aten.sum.dim_IntList %[[SQUARED]],
    // CHECK: %[[SQUARES_OF_FAR:.*]] = torch.aten.div.Scalar %[[SUM_OF_SQUARED]], %[[PART]] :
    // CHECK: %[[OFF:.*]] = torch.aten.mul.Tensor %[[BESIDE]], %[[BESIDE]]
    // CHECK: %[[WITHIN:.*]] = torch.aten.sub.Tensor %[[SQUARES_OF_FAR]], %[[OFF]],
    // COM: Then those of the parts.
    // CHECK: %[[MEANS:.*]] = torch.aten.add.Tensor %[[NEAR]], %[[BESIDE]],
    // CHECK: %[[TOTAL:.*]] = torch.aten.sum.dim_IntList %[[MEANS]], {{.*}} -> !torch.vtensor<[16],f32>
    // CHECK: %[[ABOUT:.*]] = torch.aten.div.Scalar %[[TOTAL]],
    // CHECK: %[[FROM_NEAR:.*]] = torch.aten.sub.Tensor %[[NEAR]], %[[ABOUT]],
    // CHECK: %[[FROM:.*]] = torch.aten.add.Tensor %[[FROM_NEAR]], %[[BESIDE]],
    // CHECK: %[[LEFT:.*]] = torch.aten.sum.dim_IntList %[[FROM]],
    // CHECK: %[[REST:.*]] = torch.aten.div.Scalar %[[LEFT]], {{.*}} {dovetail.pinned}
    // CHECK: %[[BETWEEN:.*]] = torch.aten.mul.Tensor %[[FROM]], %[[FROM]]
    // CHECK: %[[ALL:.*]] = torch.aten.add.Tensor %[[BETWEEN]], %[[WITHIN]],
    // CHECK: %[[TOTAL_OF_SQUARES:.*]] = torch.aten.sum.dim_IntList %[[ALL]],
    // CHECK: %[[SQUARES:.*]] = torch.aten.div.Scalar %[[TOTAL_OF_SQUARES]], {{.*}} {dovetail.pinned}
    // CHECK: %[[OFF_ALL:.*]] = torch.aten.mul.Tensor %[[REST]], %[[REST]]
    // CHECK: %[[BOTH:.*]] = torch.aten.sub.Tensor %[[SQUARES]], %[[OFF_ALL]],
    // CHECK: %[[RELU:.*]] = torch.aten.relu %[[BOTH]]
    // CHECK: %[[ADDED:.*]] = torch.aten.add.Tensor %[[ABOUT]], %[[REST]],
    // CHECK: %[[VAR:.*]] = torch.aten.reshape %[[RELU]], {{.*}} -> !torch.vtensor<[1,1,1,16],f32>
    // CHECK: %[[MEAN:.*]] = torch.aten.reshape %[[ADDED]], {{.*}} -> !torch.vtensor<[1,1,1,16],f32>
    %5:2 = torch.aten.var_mean.correction %4, %pixels, %0, %true : !x, !torch.list<int>, !torch.int, !torch.bool -> !c, !c
    // CHECK: torch.aten.sub.Tensor %[[Y]], %[[MEAN]],
    // CHECK: torch.aten.mul.Tensor %{{.*}}, %[[VAR]]
    %6 = torch.aten.sub.Tensor %4, %5#1, %1 : !x, !c, !torch.int -> !x
    %7 = torch.aten.mul.Tensor %6, %5#0 : !x, !c -> !x
    // CHECK: torch.aten.convolution %{{.*}}, %[[FILTER]],
    %8 = torch.aten.convolution %7, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %9 = torch.aten.convolution %8, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // COM: Without the dimensions, and divided by one less.
    // CHECK-NOT: var_mean
    // CHECK: %[[MORE:.*]] = torch.constant.float 1.000003
    // CHECK: torch.aten.mul.Scalar %{{.*}}, %[[MORE]]
    // CHECK: torch.aten.reshape {{.*}} -> !torch.vtensor<[16],f32>
    // CHECK: torch.aten.reshape {{.*}} -> !torch.vtensor<[16],f32>
    %10:2 = torch.aten.var_mean.correction %9, %pixels, %1, %false : !x, !torch.list<int>, !torch.int, !torch.bool -> !d, !d
    %11 = "dovetail.own"(%9) {requires_grad = false} : (!x) -> !rx
    %12 = "dovetail.own"(%10#0) {requires_grad = false} : (!d) -> !rd
    %13 = "dovetail.own"(%10#1) {requires_grad = false} : (!d) -> !rd
    return %11, %12, %13 : !rx, !rd, !rd
  }
}

// -----

// COM: Images whose pixels make no parts of 64 rows are read twice: each pixel is one.

!x = !torch.vtensor<[250,16,33,33],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!c = !torch.vtensor<[1,16,1,1],f32>
!rx = !dovetail.ref<!x, strided<[17424, 1089, 33, 1]>>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.tf32} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg0: !rx, %arg1: !rw) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %pixels = torch.prim.ListConstruct %0, %2, %3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // CHECK: %[[Y:.*]] = torch.aten.permute {{.*}} {dovetail.shows_rows} : {{.*}} -> !torch.vtensor<[250,33,33,16],f32>
    // CHECK-NOT: var_mean
    // CHECK: %[[TOTAL:.*]] = torch.aten.sum.dim_IntList %[[Y]], {{.*}} -> !torch.vtensor<[16],f32>
    // CHECK: %[[ABOUT:.*]] = torch.aten.div.Scalar %[[TOTAL]],
    // CHECK: %[[FROM:.*]] = torch.aten.sub.Tensor %[[Y]], %[[ABOUT]],
    // CHECK: %[[LEFT:.*]] = torch.aten.sum.dim_IntList %[[FROM]],
    // CHECK: %[[REST:.*]] = torch.aten.div.Scalar %[[LEFT]], {{.*}} {dovetail.pinned}
    // CHECK: %[[SQUARED:.*]] = torch.aten.mul.Tensor %[[FROM]], %[[FROM]]
    // CHECK: %[[TOTAL_OF_SQUARES:.*]] = torch.aten.sum.dim_IntList %[[SQUARED]],
    // CHECK: %[[SQUARES:.*]] = torch.aten.div.Scalar %[[TOTAL_OF_SQUARES]], {{.*}} {dovetail.pinned}
    // CHECK: %[[OFF:.*]] = torch.aten.mul.Tensor %[[REST]], %[[REST]]
    // CHECK: torch.aten.sub.Tensor %[[SQUARES]], %[[OFF]],
    // CHECK: torch.aten.add.Tensor %[[ABOUT]], %[[REST]],
    %5:2 = torch.aten.var_mean.correction %4, %pixels, %0, %true : !x, !torch.list<int>, !torch.int, !torch.bool -> !c, !c
    %6 = torch.aten.sub.Tensor %4, %5#1, %1 : !x, !c, !torch.int -> !x
    %7 = torch.aten.mul.Tensor %6, %5#0 : !x, !c -> !x
    %8 = torch.aten.convolution %7, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %9 = "dovetail.own"(%8) {requires_grad = false} : (!x) -> !rx
    return %9 : !rx
  }
}

// -----

// COM: Of open sizes, which a GPU's regions do not turn.

!x = !torch.vtensor<[?,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!c = !torch.vtensor<[1,16,1,1],f32>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
#x = affine_map<()[s0] -> (s0, 16, 32, 32)>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>

module attributes {dovetail.hints = array<i64: 8>, dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.tf32} {
  // CHECK-LABEL: func.func @joint(
  // CHECK-NOT: dovetail.strides
  // CHECK: torch.aten.var_mean.correction
  // CHECK-NOT: dovetail.strides
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 0 : i64}, %arg0: !rx {dovetail.sizes = #x}, %arg1: !rw) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %pixels = torch.prim.ListConstruct %0, %2, %3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) {dovetail.sizes = [#x]} : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5:2 = torch.aten.var_mean.correction %4, %pixels, %0, %true : !x, !torch.list<int>, !torch.int, !torch.bool -> !c, !c
    %6 = torch.aten.sub.Tensor %4, %5#1, %1 {dovetail.sizes = [#x]} : !x, !c, !torch.int -> !x
    %7 = torch.aten.mul.Tensor %6, %5#0 {dovetail.sizes = [#x]} : !x, !c -> !x
    %8 = torch.aten.convolution %7, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %9 = "dovetail.own"(%8) {requires_grad = false} : (!x) -> !rx
    return %9 : !rx
  }
}

// RUN: dovetail-opt %s --split-input-file --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
//
// Catches what had better stay in rows and does not: one convolution alone, whose images would be copied twice, and sums
// of many channels, which would be less exact; and pooling that gets images in rows.

// COM: Alone: two copies for what the library saves.

!x = !torch.vtensor<[8,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK-NOT: dovetail.strides
  func.func @joint(%arg0: !rx, %arg1: !rw) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5 = "dovetail.own"(%4) {requires_grad = true} : (!x) -> !rx
    return %5 : !rx
  }
}

// -----

// COM: The second and third convolution add up the products of 128 channels, one after the other: the first alone does
// COM: not pay. Pooling goes along with what does.

!x = !torch.vtensor<[8,128,16,16],f32>
!p = !torch.vtensor<[8,128,8,8],f32>
!q = !torch.vtensor<[8,128,8,8],si64>
!w = !torch.vtensor<[128,128,3,3],f32>
!v = !torch.vtensor<[128,128,1,1],f32>
!rx = !dovetail.ref<!x, strided<[32768, 256, 16, 1]>>
!rp = !dovetail.ref<!p, strided<[8192, 64, 8, 1]>>
!rw = !dovetail.ref<!w, strided<[1152, 9, 3, 1]>>
!rv = !dovetail.ref<!v, strided<[128, 1, 1, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg0: !rx, %arg1: !rw, %arg2: !rv) -> (!rx, !rp) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %twos = torch.prim.ListConstruct %2, %2 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %v = "dovetail.read"(%arg2) : (!rv) -> !v
    // CHECK: torch.aten.convolution %{{.*}}, %int1 : !torch.vtensor<[8,128,16,16],f32>, !torch.vtensor<[128,128,3,3],f32>
    %3 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // COM: Of one pixel, all kernels add up alike.
    // CHECK: torch.aten.convolution %{{.*}} {dovetail.strides = {{.*}} : !torch.vtensor<[8,128,16,16],f32>, !torch.vtensor<[128,128,1,1],f32>
    // CHECK: torch.aten.convolution %{{.*}} {dovetail.strides = {{.*}} : !torch.vtensor<[8,128,16,16],f32>, !torch.vtensor<[128,128,1,1],f32>
    // CHECK: %[[POOLED:.*]], %{{.*}} = torch.aten.max_pool2d_with_indices %{{.*}} {dovetail.strides = [array<i64: 32768, 1, 2048, 128>, unit
    // CHECK: %[[LAST:.*]] = torch.aten.permute %[[POOLED]], %{{.*}} {dovetail.shows_rows}
    // CHECK: %[[BACK:.*]] = torch.aten.permute %[[LAST]]
    // CHECK: %[[ROWS:.*]] = torch.aten.clone %[[BACK]], %int0
    // CHECK: "dovetail.own"(%[[ROWS]])
    %4 = torch.aten.convolution %x, %v, %none, %ones, %zeros, %ones, %false, %zeros, %1 : !x, !v, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5 = torch.aten.convolution %4, %v, %none, %ones, %zeros, %ones, %false, %zeros, %1 : !x, !v, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %6, %7 = torch.aten.max_pool2d_with_indices %5, %twos, %twos, %zeros, %ones, %false : !x, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !p, !q
    %8 = "dovetail.own"(%3) {requires_grad = false} : (!x) -> !rx
    %9 = "dovetail.own"(%6) {requires_grad = false} : (!p) -> !rp
    return %8, %9 : !rx, !rp
  }
}

// -----

// COM: Moments are sums of parts on a GPU; a CPU's module that has them whole keeps them.

!x = !torch.vtensor<[8,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!d = !torch.vtensor<[16],f32>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>
!rd = !dovetail.ref<!d, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%arg0: !rx, %arg1: !rw) -> (!rx, !rd, !rd) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %pixels = torch.prim.ListConstruct %0, %2, %3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    // CHECK: torch.aten.convolution {{.*}} {dovetail.strides = [array<i64: 16384, 1, 512, 16>,
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5 = torch.aten.relu %4 : !x -> !x
    %6 = torch.aten.convolution %5, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %7 = torch.aten.relu %6 : !x -> !x
    %8 = torch.aten.convolution %7, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // CHECK: torch.aten.var_mean.correction %{{.*}} : !torch.vtensor<[8,16,32,32],f32>,
    %9:2 = torch.aten.var_mean.correction %8, %pixels, %1, %false : !x, !torch.list<int>, !torch.int, !torch.bool -> !d, !d
    %10 = "dovetail.own"(%8) {requires_grad = false} : (!x) -> !rx
    %11 = "dovetail.own"(%9#0) {requires_grad = false} : (!d) -> !rd
    %12 = "dovetail.own"(%9#1) {requires_grad = false} : (!d) -> !rd
    return %10, %11, %12 : !rx, !rd, !rd
  }
}

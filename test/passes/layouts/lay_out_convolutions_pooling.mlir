// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values,partition,place-ops' | FileCheck %s --check-prefix=PLACED
//
// Catches a library's pooling of images that lie channels last on a GPU, which stores positions of eight bytes; regions that
// pool where the user sees positions; and a gradient of pixels that a ReLU cuts off.
// COM: What these convolutions compute takes a CPU minutes; test/devices/test_pooling.py compares such chains.

!x = !torch.vtensor<[64,64,56,56],f16>
!p = !torch.vtensor<[64,64,28,28],f16>
!q = !torch.vtensor<[64,64,28,28],si64>
!b = !torch.vtensor<[64,64,56,56],i1>
!w = !torch.vtensor<[64,64,3,3],f16>
!l = !torch.list<int>
!rx = !dovetail.ref<!x, strided<[200704, 3136, 56, 1]>>
!rp = !dovetail.ref<!p, strided<[50176, 784, 28, 1]>>
!rq = !dovetail.ref<!q, strided<[50176, 784, 28, 1]>>
!rw = !dovetail.ref<!w, strided<[576, 9, 3, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  // PLACED-LABEL: func.func @forward(
  func.func @joint(%arg0: !rx, %arg1: !rw) -> (!rx, !rp, !rq) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !l
    %twos = torch.prim.ListConstruct %2, %2 : (!torch.int, !torch.int) -> !l
    %threes = torch.prim.ListConstruct %3, %3 : (!torch.int, !torch.int) -> !l
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !l
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !x
    // COM: Pixels are compared as they are stored.
    // CHECK: %[[IMAGES:.*]] = torch.aten.relu %{{.*}} {dovetail.pinned} : !torch.vtensor<[64,56,56,64],f16>
    %6 = torch.aten.relu %4 : !x -> !x
    // CHECK-NOT: torch.aten.max_pool2d
    // CHECK: torch.aten.reshape %[[IMAGES]], %{{.*}} -> !torch.vtensor<[64,3136,64],f16>
    // CHECK: torch.aten.index_select %{{.*}} : !torch.vtensor<[64,3136,64],f16>, !torch.int, !torch.vtensor<[784],si32> -> !torch.vtensor<[64,784,64],f16>
    // PLACED: torch.aten.index_select {{.*}}dovetail.placement = "region"
    // CHECK: torch.aten.where.self %{{.*}} {dovetail.pinned} : {{.*}} -> !torch.vtensor<[64,784,64],f16>
    // CHECK: %[[PLACES:.*]] = torch.aten.where.self %{{.*}} {dovetail.pinned} : {{.*}} -> !torch.vtensor<[64,784,64],si8>
    %7, %8 = torch.aten.max_pool2d_with_indices %6, %threes, %twos, %ones, %ones, %false : !x, !l, !l, !l, !l, !torch.bool -> !p, !q
    // CHECK: torch.aten.convolution
    %9 = torch.aten.convolution %7, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !p, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !p
    // COM: What stands in no place has no gradient: pixels need no look.
    // CHECK-NOT: torch.aten.where.self
    // CHECK: torch.aten.where.ScalarOther {{.*}} -> !torch.vtensor<[64,3136,64],f32>
    // CHECK: torch.aten._to_copy %{{.*}} {dovetail.pinned} : {{.*}} -> !torch.vtensor<[64,3136,64],f16>
    %10 = torch.aten.max_pool2d_with_indices_backward %9, %6, %threes, %twos, %ones, %ones, %false, %8 : !p, !x, !l, !l, !l, !l, !torch.bool, !q -> !x
    %zero = torch.aten.scalar_tensor %0, %5, %none, %none, %none : !torch.int, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],f16>
    %11 = torch.aten.le.Scalar %6, %0 : !x, !torch.int -> !b
    %12 = torch.aten.where.self %11, %zero, %10 : !b, !torch.vtensor<[],f16>, !x -> !x
    // CHECK: torch.aten.convolution
    %13 = torch.aten.convolution %12, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !x
    // CHECK: torch.aten.convolution
    // CHECK: %{{.*}}, %{{.*}} = torch.aten.max_pool2d_with_indices %{{.*}} {dovetail.strides
    %14 = torch.aten.convolution %13, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !x
    %15, %16 = torch.aten.max_pool2d_with_indices %14, %threes, %twos, %ones, %ones, %false : !x, !l, !l, !l, !l, !torch.bool -> !p, !q
    %17 = "dovetail.own"(%13) {requires_grad = false} : (!x) -> !rx
    %18 = "dovetail.own"(%15) {requires_grad = false} : (!p) -> !rp
    %19 = "dovetail.own"(%16) {requires_grad = false} : (!q) -> !rq
    return %17, %18, %19 : !rx, !rp, !rq
  }
}

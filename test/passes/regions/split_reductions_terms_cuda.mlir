// RUN: dovetail-opt %s --pass-pipeline='split-reductions' | FileCheck %s
//
// Catches what is added up in blocks stored first, since others use it in other sizes: the deviations of a batch norm, twice
// as large as the images. And terms computed again that move more memory than storing them, or that decide by last bits
// of what is itself computed again.

!images = !torch.vtensor<[64,8,8,64],bf16>
!wide = !torch.vtensor<[64,8,8,64],f32>
!channel = !torch.vtensor<[1,1,1,64],f32>
!sum = !torch.vtensor<[64],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  // COM: The mean of each channel is repeated over blocks; the product and the result have the deviations for themselves.
  // CHECK-LABEL: func.func private @deviations(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[64,8,8,64],bf16>, %[[M:[a-z0-9]+]]: !torch.vtensor<[1,1,1,64],f32>
  // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[X]], {{.*}} -> !torch.vtensor<[1,64,64,64],bf16>
  // CHECK: %[[WIDE:.*]] = torch.aten._to_copy %[[BLOCKS]], {{.*}} -> !torch.vtensor<[1,64,64,64],f32>
  // CHECK: %[[FAR:.*]] = torch.aten.sub.Tensor %[[WIDE]], %[[M]], {{.*}} -> !torch.vtensor<[1,64,64,64],f32>
  // CHECK: %[[SQUARES:.*]] = torch.aten.mul.Tensor %[[FAR]], %[[FAR]]
  // CHECK: torch.aten.sum.dim_IntList %[[SQUARES]], {{.*}} -> !torch.vtensor<[1,64,64],f32>
  // CHECK-NOT: torch.aten.mul.Tensor
  func.func private @deviations(%x: !images, %m: !channel) -> (!sum, !images) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %int6 = torch.constant.int 6
    %int15 = torch.constant.int 15
    %dims = torch.prim.ListConstruct %int0, %int1, %int2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %x, %int6, %none, %none, %none, %false, %none
        : !images, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !wide
    %1 = torch.aten.sub.Tensor %0, %m, %int1 : !wide, !channel, !torch.int -> !wide
    %2 = torch.aten.mul.Tensor %1, %1 : !wide, !wide -> !wide
    %3 = torch.aten.sum.dim_IntList %2, %dims, %false, %none : !wide, !torch.list<int>, !torch.bool, !torch.none -> !sum
    %4 = torch.aten._to_copy %1, %int15, %none, %none, %none, %false, %none
        : !wide, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !images
    return %3, %4 : !sum, !images
  }

  // COM: Three tensors are more than one that is read where it is stored anyway.
  // CHECK-LABEL: func.func private @stored_anyway(
  // CHECK: %[[S:.*]] = torch.aten.add.Tensor
  // CHECK: %[[ALL:.*]] = torch.aten.add.Tensor %[[S]]
  // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[ALL]], {{.*}} -> !torch.vtensor<[1,64,64,64],f32>
  // CHECK: torch.aten.sum.dim_IntList %[[BLOCKS]]
  func.func private @stored_anyway(%x: !wide, %y: !wide, %z: !wide) -> (!sum, !wide) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %dims = torch.prim.ListConstruct %int0, %int1, %int2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.add.Tensor %x, %y, %int1 : !wide, !wide, !torch.int -> !wide
    %1 = torch.aten.add.Tensor %0, %z, %int1 : !wide, !wide, !torch.int -> !wide
    %2 = torch.aten.sum.dim_IntList %1, %dims, %false, %none : !wide, !torch.list<int>, !torch.bool, !torch.none -> !sum
    return %2, %1 : !sum, !wide
  }

  // COM: A mask of an argument is the same wherever it is computed; one of what a region computes need not be.
  // CHECK-LABEL: func.func private @masks(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[64,8,8,64],f32>, %[[Y:[a-z0-9]+]]: !torch.vtensor<[64,8,8,64],f32>
  // CHECK: %[[COMPUTED:.*]] = torch.aten.exp %[[X]]
  // CHECK: %[[MASK:.*]] = torch.aten.le.Scalar %[[COMPUTED]], {{.*}} -> !torch.vtensor<[64,8,8,64],i1>
  // CHECK: %[[GIVEN:.*]] = torch.aten.reshape %[[Y]], {{.*}} -> !torch.vtensor<[1,64,64,64],f32>
  // CHECK: %[[OF_GIVEN:.*]] = torch.aten.le.Scalar %[[GIVEN]], {{.*}} -> !torch.vtensor<[1,64,64,64],i1>
  // CHECK: torch.aten.where.self %[[OF_GIVEN]],
  // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[MASK]], {{.*}} -> !torch.vtensor<[1,64,64,64],i1>
  // CHECK: torch.aten.where.self %[[BLOCKS]],
  func.func private @masks(%x: !wide, %y: !wide) -> (!sum, !sum) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %half = torch.constant.float 0.5
    %dims = torch.prim.ListConstruct %int0, %int1, %int2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.exp %x : !wide -> !wide
    %1 = torch.aten.le.Scalar %0, %half : !wide, !torch.float -> !torch.vtensor<[64,8,8,64],i1>
    %2 = torch.aten.le.Scalar %y, %half : !wide, !torch.float -> !torch.vtensor<[64,8,8,64],i1>
    %3 = torch.aten.where.self %2, %x, %y : !torch.vtensor<[64,8,8,64],i1>, !wide, !wide -> !wide
    %4 = torch.aten.sum.dim_IntList %3, %dims, %false, %none : !wide, !torch.list<int>, !torch.bool, !torch.none -> !sum
    %5 = torch.aten.where.self %1, %x, %y : !torch.vtensor<[64,8,8,64],i1>, !wide, !wide -> !wide
    %6 = torch.aten.sum.dim_IntList %5, %dims, %false, %none : !wide, !torch.list<int>, !torch.bool, !torch.none -> !sum
    return %4, %6 : !sum, !sum
  }

  // COM: Columns of an open number are not cut, so that nothing is computed in other sizes.
  // CHECK-LABEL: func.func private @open(
  // CHECK-NOT: torch.aten.reshape
  // CHECK: return
  func.func private @open(%x: !torch.vtensor<[?,64],f32>, %m: !torch.vtensor<[1,64],f32>) -> !sum attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sub.Tensor %x, %m, %int1 : !torch.vtensor<[?,64],f32>, !torch.vtensor<[1,64],f32>, !torch.int -> !torch.vtensor<[?,64],f32>
    %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : !torch.vtensor<[?,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !sum
    return %1 : !sum
  }
}

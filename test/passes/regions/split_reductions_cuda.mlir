// RUN: dovetail-opt %s --pass-pipeline='split-reductions' | FileCheck %s
//
// Catches a GPU's sums added up by few threads, in blocks that its tiles do not divide, or in float64 where many threads
// share them; and in float32 where one thread adds up all of a row or of a column, whose rounding grows with their number.
// Also a sum of half precision that became one of float32 where one thread adds up the parts, since its users take
// another type; and a sum beside its parts, which nobody uses.

!all = !torch.vtensor<[1048576],f32>
!columns = !torch.vtensor<[8,1024,768],f32>
!rows = !torch.vtensor<[8192,4096],f32>
!odd = !torch.vtensor<[5003,1001],f32>
!mean = !torch.vtensor<[8192,1],f32>
!wide = !torch.vtensor<[8192,1],f64>
!alone = !torch.vtensor<[13,17],f32>
!low = !torch.vtensor<[32,9],f32>
!mask = !torch.vtensor<[64,512],i1>
!nine = !torch.vtensor<[9],f32>
!scalar = !torch.vtensor<[],f32>
!column = !torch.vtensor<[768],f32>
!row = !torch.vtensor<[8192],f32>
!oddly = !torch.vtensor<[1001],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func private @region(
  // CHECK-SAME: %[[A:[a-z0-9]+]]: !torch.vtensor<[1048576],f32>, %[[C:[a-z0-9]+]]: !torch.vtensor<[8,1024,768],f32>, %[[R:[a-z0-9]+]]: !torch.vtensor<[8192,4096],f32>, %[[O:[a-z0-9]+]]: !torch.vtensor<[5003,1001],f32>, %[[N:[a-z0-9]+]]: !torch.vtensor<[13,17],f32>, %[[L:[a-z0-9]+]]: !torch.vtensor<[32,9],f32>, %[[M:[a-z0-9]+]]: !torch.vtensor<[64,512],i1>
  func.func private @region(%a: !all, %c: !columns, %r: !rows, %o: !odd, %s: !alone, %l: !low, %m: !mask) -> (!scalar, !column, !row, !oddly, !mean, !scalar, !nine, !row, !torch.vtensor<[],si64>) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int6 = torch.constant.int 6
    %int7 = torch.constant.int 7
    %n = torch.constant.int 4096
    %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %two = torch.prim.ListConstruct %int0, %int1 : (!torch.int, !torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[A]], {{.*}} -> !torch.vtensor<[64,16384],f32>
    // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList %[[BLOCKS]], {{.*}} -> !torch.vtensor<[64],f32>
    // CHECK: torch.aten.sum.dim_IntList %[[PARTS]], {{.*}} -> !torch.vtensor<[],f32>
    %0 = torch.aten.sum.dim_IntList %a, %first, %false, %none : !all, !torch.list<int>, !torch.bool, !torch.none -> !scalar
    // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[C]], {{.*}} -> !torch.vtensor<[1,16,512,768],f32>
    // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList %[[BLOCKS]], {{.*}} -> !torch.vtensor<[1,16,768],f32>
    // CHECK: torch.aten.sum.dim_IntList %[[PARTS]], {{.*}} -> !torch.vtensor<[1,768],f32>
    %1 = torch.aten.sum.dim_IntList %c, %two, %false, %none : !columns, !torch.list<int>, !torch.bool, !torch.none -> !column
    // COM: Rows that one workgroup holds are left as they are.
    // CHECK: torch.aten.sum.dim_IntList %[[R]], {{.*}} -> !torch.vtensor<[8192],f32>
    %2 = torch.aten.sum.dim_IntList %r, %last, %false, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !row
    // CHECK: %[[WIDE:.*]] = torch.aten.sum.dim_IntList %[[O]], {{.*}} -> !torch.vtensor<[1001],f64>
    // CHECK: torch.aten._to_copy %[[WIDE]], {{.*}} -> !torch.vtensor<[1001],f32>
    %3 = torch.aten.sum.dim_IntList %o, %first, %false, %none : !odd, !torch.list<int>, !torch.bool, !torch.none -> !oddly
    // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[R]], {{.*}} -> !torch.vtensor<[8192,1],f32>
    // CHECK: torch.aten.div.Scalar %[[SUM]], {{.*}} -> !torch.vtensor<[8192,1],f32>
    // CHECK-NOT: f64
    %4 = torch.aten.sum.dim_IntList %r, %last, %true, %int7 : !rows, !torch.list<int>, !torch.bool, !torch.int -> !wide
    %5 = torch.aten.div.Scalar %4, %n : !wide, !torch.int -> !wide
    %6 = torch.aten._to_copy %5, %int6, %none, %none, %none, %false, %none
        : !wide, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !mean
    // CHECK: torch.prim.ListConstruct
    // CHECK: %[[WIDE:.*]] = torch.aten.sum.dim_IntList %[[N]], {{.*}} -> !torch.vtensor<[],f64>
    // CHECK: torch.aten._to_copy %[[WIDE]], {{.*}} -> !torch.vtensor<[],f32>
    %7 = torch.aten.sum %s, %none : !alone, !torch.none -> !scalar
    // CHECK: torch.aten.sum.dim_IntList %[[L]], {{.*}} -> !torch.vtensor<[9],f32>
    %8 = torch.aten.sum.dim_IntList %l, %first, %false, %none : !low, !torch.list<int>, !torch.bool, !torch.none -> !nine
    // CHECK: %[[TOTAL:.*]] = torch.aten.sum.dim_IntList %[[R]], {{.*}} -> !torch.vtensor<[8192],f32>
    // CHECK: torch.aten.rsub.Scalar %[[TOTAL]], {{.*}} -> !torch.vtensor<[8192],f32>
    %9 = torch.aten.neg %r : !rows -> !rows
    %10 = torch.aten.sum.dim_IntList %9, %last, %false, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !row
    // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[M]], {{.*}} -> !torch.vtensor<[8,8,512],i1>
    // CHECK-NOT: torch.aten.sum
    // CHECK: %[[ONES:[a-z0-9]+]] = torch.aten._to_copy %[[BLOCKS]], {{.*}} -> !torch.vtensor<[8,8,512],f32>
    // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList %[[ONES]]
    // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[PARTS]]
    // CHECK: torch.aten._to_copy %[[SUM]], {{.*}} -> !torch.vtensor<[],si64>
    %11 = torch.aten.sum %m, %none : !mask, !torch.none -> !torch.vtensor<[],si64>
    // COM: Blocks are whole rows of 768, so that what computes the numbers is part of the kernel.
    // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape %[[C]], {{.*}} -> !torch.vtensor<[8,64,16,768],f32>
    // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList %[[BLOCKS]], {{.*}} -> !torch.vtensor<[8,64],f32>
    // CHECK: torch.aten.sum.dim_IntList %[[PARTS]], {{.*}} -> !torch.vtensor<[],f32>
    %12 = torch.aten.sum %c, %none : !columns, !torch.none -> !scalar
    return %12, %1, %2, %3, %6, %7, %8, %10, %11 : !scalar, !column, !row, !oddly, !mean, !scalar, !nine, !row, !torch.vtensor<[],si64>
  }

  // CHECK-LABEL: func.func private @of_half_precision(
  // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[200],f16>
  // CHECK: %[[WIDE:.*]] = torch.aten.sum.dim_IntList %[[PARTS]], {{.*}} -> !torch.vtensor<[],f64>
  // CHECK: %[[SUM:.*]] = torch.aten._to_copy %[[WIDE]], {{.*}} -> !torch.vtensor<[],f16>
  // CHECK: return %[[SUM]]
  func.func private @of_half_precision(%x: !torch.vtensor<[3276800],f16>) -> !torch.vtensor<[],f16> attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %0 = torch.aten.sum %x, %none : !torch.vtensor<[3276800],f16>, !torch.none -> !torch.vtensor<[],f16>
    return %0 : !torch.vtensor<[],f16>
  }

  // COM: Of few, by a loop over the results, which starts from 0.
  // CHECK-LABEL: func.func private @of_few(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[8,3,1000],f32>, %[[H:[a-z0-9]+]]: !torch.vtensor<[2,10000],bf16>
  // CHECK: %[[A:.*]] = torch.aten.slice.Tensor %[[X]], {{.*}} -> !torch.vtensor<[8,1,1000],f32>
  // CHECK: %[[B:.*]] = torch.aten.slice.Tensor %[[X]], {{.*}} -> !torch.vtensor<[8,1,1000],f32>
  // CHECK: %[[C:.*]] = torch.aten.slice.Tensor %[[X]], {{.*}} -> !torch.vtensor<[8,1,1000],f32>
  // CHECK: %[[ZERO:.*]] = torch.constant.float 0.000000e+00
  // CHECK: %[[S:.*]] = torch.aten.add.Scalar %[[A]], %[[ZERO]],
  // CHECK: %[[T:.*]] = torch.aten.add.Tensor %[[S]], %[[B]],
  // CHECK: %[[U:.*]] = torch.aten.add.Tensor %[[T]], %[[C]],
  // CHECK: torch.aten.reshape %[[U]], {{.*}} -> !torch.vtensor<[8,1000],f32>
  // COM: Half precision in float32.
  // CHECK-COUNT-2: torch.aten._to_copy {{.*}} -> !torch.vtensor<[1,10000],f32>
  // CHECK: torch.aten.add.Tensor {{.*}} -> !torch.vtensor<[1,10000],f32>
  // CHECK: torch.aten._to_copy {{.*}} -> !torch.vtensor<[1,10000],bf16>
  func.func private @of_few(%x: !torch.vtensor<[8,3,1000],f32>, %h: !torch.vtensor<[2,10000],bf16>) -> (!torch.vtensor<[8,1000],f32>, !torch.vtensor<[1,10000],bf16>) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %middle = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %middle, %false, %none : !torch.vtensor<[8,3,1000],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[8,1000],f32>
    %1 = torch.aten.sum.dim_IntList %h, %first, %true, %none : !torch.vtensor<[2,10000],bf16>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,10000],bf16>
    return %0, %1 : !torch.vtensor<[8,1000],f32>, !torch.vtensor<[1,10000],bf16>
  }

  // CHECK-LABEL: func.func private @of_double_precision(
  // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[200],f64>
  // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[PARTS]], {{.*}} -> !torch.vtensor<[],f64>
  // CHECK: return %[[SUM]]
  func.func private @of_double_precision(%x: !torch.vtensor<[3276800],f64>) -> !torch.vtensor<[],f64> attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %0 = torch.aten.sum %x, %none : !torch.vtensor<[3276800],f64>, !torch.none -> !torch.vtensor<[],f64>
    return %0 : !torch.vtensor<[],f64>
  }

  // Each of few threads added up whole columns where IREE made one kernel with what takes their sums.
  // CHECK-LABEL: func.func private @of_images_channels_last(
  // CHECK: %[[ROWS:.*]] = torch.aten.reshape {{.*}} -> !torch.vtensor<[1,3136,4096],f32>
  // CHECK: torch.aten.sum.dim_IntList %[[ROWS]], {{.*}} -> !torch.vtensor<[1,4096],f32>
  func.func private @of_images_channels_last(%x: !torch.vtensor<[64,7,7,4096],f32>) -> !torch.vtensor<[4096],f32> attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %pixels = torch.prim.ListConstruct %int0, %int1, %int2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %pixels, %false, %none : !torch.vtensor<[64,7,7,4096],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[4096],f32>
    return %0 : !torch.vtensor<[4096],f32>
  }

  // Few workgroups had all the rows of images of 7 by 7, whose number two divides no further: 64 of a GPU's hundreds.
  // CHECK-LABEL: func.func private @of_blocks_of_seven(
  // CHECK: %[[BLOCKS:.*]] = torch.aten.reshape {{.*}} -> !torch.vtensor<[1,28,448,256],f32>
  // CHECK: %[[PARTS:.*]] = torch.aten.sum.dim_IntList %[[BLOCKS]], {{.*}} -> !torch.vtensor<[1,28,256],f32>
  // CHECK: torch.aten.sum.dim_IntList %[[PARTS]], {{.*}} -> !torch.vtensor<[1,256],f32>
  func.func private @of_blocks_of_seven(%x: !torch.vtensor<[64,14,14,256],f32>) -> !torch.vtensor<[256],f32> attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %pixels = torch.prim.ListConstruct %int0, %int1, %int2 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %pixels, %false, %none : !torch.vtensor<[64,14,14,256],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[256],f32>
    return %0 : !torch.vtensor<[256],f32>
  }
}

// RUN: dovetail-opt %s --pass-pipeline='split-softmax' | FileCheck %s
//
// Catches a long row that a kernel reads twice, for its largest number and for the sum that takes it, and blocks of -inf
// alone whose sum is NaN. And rows taken apart where a kernel goes on over them, which took a hundred times as long.

!rows = !torch.vtensor<[16,32000],f32>
!half = !torch.vtensor<[16,32000],bf16>
!row = !torch.vtensor<[16,1],f32>
!odd = !torch.vtensor<[16,30522],f32>
!short = !torch.vtensor<[16,16384],f32>
!open = !torch.vtensor<[?,32000],f32>
!open_row = !torch.vtensor<[?,1],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func private @logarithm(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[16,32000],bf16>
  // CHECK: %[[H:.*]] = torch.aten.reshape %[[X]], {{.*}} -> !torch.vtensor<[16,50,640],bf16>
  // CHECK: %[[B:.*]] = torch.aten._to_copy %[[H]], {{.*}} -> !torch.vtensor<[16,50,640],f32>
  // CHECK: %[[N:.*]] = torch.aten.amax %[[B]], {{.*}} -> !torch.vtensor<[16,50,1],f32>
  // CHECK: %[[IS:.*]] = torch.aten.eq.Scalar %[[N]],
  // CHECK: %[[BASE:.*]] = torch.aten.where.ScalarSelf %[[IS]], {{.*}}, %[[N]]
  // CHECK: %[[LESS:.*]] = torch.aten.sub.Tensor %[[B]], %[[BASE]]
  // CHECK: %[[E:.*]] = torch.aten.exp %[[LESS]]
  // CHECK: %[[T:.*]] = torch.aten.sum.dim_IntList %[[E]], {{.*}} -> !torch.vtensor<[16,50],f32>
  // CHECK: %[[NS:.*]] = torch.aten.reshape %[[N]], {{.*}} -> !torch.vtensor<[16,50],f32>
  // CHECK: %[[M:.*]] = torch.aten.amax %[[NS]], {{.*}} -> !torch.vtensor<[16,1],f32>
  // CHECK: %[[FAR:.*]] = torch.aten.sub.Tensor %[[NS]], %[[M]]
  // CHECK: %[[SCALE:.*]] = torch.aten.exp %[[FAR]]
  // CHECK: %[[SCALED:.*]] = torch.aten.mul.Tensor %[[T]], %[[SCALE]]
  // CHECK: %[[S:.*]] = torch.aten.sum.dim_IntList %[[SCALED]], {{.*}} -> !torch.vtensor<[16],f32>
  // CHECK: %[[ROW:.*]] = torch.aten.reshape %[[S]], {{.*}} -> !torch.vtensor<[16,1],f32>
  // CHECK: %[[LOG:.*]] = torch.aten.log %[[ROW]]
  // CHECK: return %[[M]], %[[LOG]]
  func.func private @logarithm(%x: !half) -> (!row, !row) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %int1 = torch.constant.int 1
    %int6 = torch.constant.int 6
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %x, %int6, %none, %none, %none, %false, %none
        : !half, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !rows
    %1 = torch.aten.amax %0, %last, %true : !rows, !torch.list<int>, !torch.bool -> !row
    %2 = torch.aten.sub.Tensor %0, %1, %int1 : !rows, !row, !torch.int -> !rows
    %3 = torch.aten.exp %2 : !rows -> !rows
    %4 = torch.aten.sum.dim_IntList %3, %last, %true, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !row
    %5 = torch.aten.log %4 : !row -> !row
    return %1, %5 : !row, !row
  }

  // COM: A kernel that divides by a row's sum would find that for each element; nor is the row's largest number found.
  // CHECK-LABEL: func.func private @softmax(
  // CHECK-NOT: torch.aten.reshape
  func.func private @softmax(%x: !rows, %y: !rows) -> (!rows, !rows) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %true = torch.constant.bool true
    %int1 = torch.constant.int 1
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.amax %x, %last, %true : !rows, !torch.list<int>, !torch.bool -> !row
    %1 = torch.aten.sub.Tensor %x, %0, %int1 : !rows, !row, !torch.int -> !rows
    %2 = torch.aten.exp %1 : !rows -> !rows
    %3 = torch.aten.sum.dim_IntList %2, %last, %true, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !row
    %4 = torch.aten.div.Tensor %2, %3 : !rows, !row -> !rows
    %5 = torch.aten.amax %y, %last, %true : !rows, !torch.list<int>, !torch.bool -> !row
    %6 = torch.aten.sub.Tensor %y, %5, %int1 : !rows, !row, !torch.int -> !rows
    %7 = torch.aten.exp %6 : !rows -> !rows
    %8 = torch.aten.sum.dim_IntList %7, %last, %true, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !row
    %9 = torch.aten.log %8 : !row -> !row
    %10 = torch.aten.mul.Tensor %y, %9 : !rows, !row -> !rows
    return %4, %10 : !rows, !rows
  }

  // COM: No multiple of 128 divides these rows; those are short; of an open number; what decides is computed once.
  // CHECK-LABEL: func.func private @whole(
  // CHECK-NOT: torch.aten.reshape
  func.func private @whole(%x: !odd, %y: !short, %z: !open, %w: !rows) -> (!row, !row, !open_row, !row) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %true = torch.constant.bool true
    %int1 = torch.constant.int 1
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.amax %x, %last, %true : !odd, !torch.list<int>, !torch.bool -> !row
    %1 = torch.aten.sub.Tensor %x, %0, %int1 : !odd, !row, !torch.int -> !odd
    %2 = torch.aten.exp %1 : !odd -> !odd
    %3 = torch.aten.sum.dim_IntList %2, %last, %true, %none : !odd, !torch.list<int>, !torch.bool, !torch.none -> !row
    %4 = torch.aten.amax %y, %last, %true : !short, !torch.list<int>, !torch.bool -> !row
    %5 = torch.aten.sub.Tensor %y, %4, %int1 : !short, !row, !torch.int -> !short
    %6 = torch.aten.exp %5 : !short -> !short
    %7 = torch.aten.sum.dim_IntList %6, %last, %true, %none : !short, !torch.list<int>, !torch.bool, !torch.none -> !row
    %8 = torch.aten.amax %z, %last, %true : !open, !torch.list<int>, !torch.bool -> !open_row
    %9 = torch.aten.sub.Tensor %z, %8, %int1 : !open, !open_row, !torch.int -> !open
    %10 = torch.aten.exp %9 : !open -> !open
    %11 = torch.aten.sum.dim_IntList %10, %last, %true, %none : !open, !torch.list<int>, !torch.bool, !torch.none -> !open_row
    %12 = torch.aten.amax %w, %last, %true {dovetail.pinned} : !rows, !torch.list<int>, !torch.bool -> !row
    %13 = torch.aten.sub.Tensor %w, %12, %int1 : !rows, !row, !torch.int -> !rows
    %14 = torch.aten.exp %13 : !rows -> !rows
    %15 = torch.aten.sum.dim_IntList %14, %last, %true, %none : !rows, !torch.list<int>, !torch.bool, !torch.none -> !row
    return %3, %7, %11, %15 : !row, !row, !open_row, !row
  }
}

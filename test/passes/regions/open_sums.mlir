// RUN: dovetail-opt %s --pass-pipeline='split-reductions,keep-scalars,keep-nan-tests' | FileCheck %s
//
// Catches a sum of open length that is added up in float32, one number after the other, rules that pass over `?`, and a
// sum without its sizes: a region that IREE does not compile could not be split behind it. And a sum of all in one loop,
// which one thread runs.

!m = !torch.vtensor<[?,48],f32>
!h = !torch.vtensor<[?,48],bf16>
module attributes {dovetail.hints = array<i64: 3, 100>, dovetail.level = "program"} {
  // CHECK-LABEL: func.func private @region(
  func.func private @region(%x: !m, %y: !h) -> (!torch.vtensor<[48],f32>, !h, !torch.vtensor<[?,48],i1>, !torch.vtensor<[?],f32>) attributes {dovetail.role = "region"} {
    %dim = torch.constant.int 0
    %dims = torch.prim.ListConstruct %dim : (!torch.int) -> !torch.list<int>
    %false = torch.constant.bool false
    %none = torch.constant.none
    // CHECK: torch.aten.sum.dim_IntList {{.*}} -> !torch.vtensor<[48],f64>
    // CHECK: torch.aten._to_copy {{.*}} : !torch.vtensor<[48],f64>, {{.*}} -> !torch.vtensor<[48],f32>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none : !m, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[48],f32>
    %tiny = torch.constant.float 1.000000e-09
    // CHECK: torch.aten.mul.Scalar {{.*}} : !torch.vtensor<[?,48],f32>, !torch.float -> !torch.vtensor<[?,48],f32>
    %1 = torch.aten.mul.Scalar %y, %tiny : !h, !torch.float -> !h
    // CHECK: torch.aten.ge.Tensor
    %2 = torch.aten.eq.Tensor %x, %x : !m, !m -> !torch.vtensor<[?,48],i1>
    %last = torch.constant.int 1
    %lasts = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.sizes = [#[[ROWS:.*]]]} : {{.*}} -> !torch.vtensor<[?],f64>
    // CHECK: torch.aten._to_copy {{.*}} {dovetail.sizes = [#[[ROWS]]]}
    %3 = torch.aten.sum.dim_IntList %x, %lasts, %false, %none {dovetail.sizes = [affine_map<()[s0] -> (s0)>]} : !m, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?],f32>
    return %0, %1, %2, %3 : !torch.vtensor<[48],f32>, !h, !torch.vtensor<[?,48],i1>, !torch.vtensor<[?],f32>
  }
  // COM: By rows, which are for several threads, if they are expected to be long.
  // CHECK-LABEL: func.func private @all(
  // CHECK: torch.aten.sum.dim_IntList %[[X:[^,]*]], {{.*}} {dovetail.sizes = [#[[ONES:.*]]]} : {{.*}} -> !torch.vtensor<[?,1],f64>
  // CHECK: %[[S:.*]] = torch.aten.sum %{{.*}} : !torch.vtensor<[?,1],f64>, !torch.int -> !torch.vtensor<[],f64>
  // CHECK: torch.aten.mean.dim %[[X]], {{.*}} {dovetail.sizes = [#[[ONES]]]} : {{.*}} -> !torch.vtensor<[?,1],f64>
  // CHECK: torch.aten.mean.dim {{.*}} : !torch.vtensor<[?,1],f64>, {{.*}} -> !torch.vtensor<[1,1],f64>
  // CHECK: torch.aten.sum %{{.*}} : !torch.vtensor<[?,?],f32>, !torch.int -> !torch.vtensor<[],f64>
  func.func private @all(%x: !torch.vtensor<[?,?],f32> {dovetail.sizes = affine_map<()[s0, s1] -> (s0, s1)>}, %y: !torch.vtensor<[?,?],f32> {dovetail.sizes = affine_map<()[s0, s1] -> (s1, s0)>}) -> (!torch.vtensor<[],f32>, !torch.vtensor<[1,1],f32>, !torch.vtensor<[],f32>) attributes {dovetail.role = "region"} {
    %none = torch.constant.none
    %true = torch.constant.bool true
    %0 = torch.aten.sum %x, %none : !torch.vtensor<[?,?],f32>, !torch.none -> !torch.vtensor<[],f32>
    %first = torch.constant.int 0
    %last = torch.constant.int -1
    %dims = torch.prim.ListConstruct %last, %first : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.mean.dim %x, %dims, %true, %none : !torch.vtensor<[?,?],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1,1],f32>
    %2 = torch.aten.sum %y, %none : !torch.vtensor<[?,?],f32>, !torch.none -> !torch.vtensor<[],f32>
    return %0, %1, %2 : !torch.vtensor<[],f32>, !torch.vtensor<[1,1],f32>, !torch.vtensor<[],f32>
  }
}

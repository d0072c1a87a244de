// RUN: dovetail-opt %s --pass-pipeline='split-reductions,keep-scalars,keep-nan-tests' | FileCheck %s
//
// Catches a sum of open length that is added up in float32, one number after the other, rules that pass over `?`, and a
// sum without its sizes: a region that IREE does not compile could not be split behind it.

!m = !torch.vtensor<[?,48],f32>
!h = !torch.vtensor<[?,48],bf16>
module attributes {dovetail.level = "program"} {
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
}

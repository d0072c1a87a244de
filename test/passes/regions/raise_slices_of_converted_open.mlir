// RUN: dovetail-opt %s --pass-pipeline='raise-slices' | FileCheck %s
//
// Catches a number in the place of a size that only a call tells, where a reshape splits a dimension of what is converted:
// slices of open sizes stay, also where the reshape alone has known ones.

!x = !torch.vtensor<[?,8],bf16>
!w = !torch.vtensor<[?,8],f32>
!s = !torch.vtensor<[?,2,4],f32>
!h = !torch.vtensor<[?,1,4],f32>
!known = !torch.vtensor<[2,2,8],f32>
!part = !torch.vtensor<[2,1,8],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func private @region(
  // CHECK: %[[WIDE:.*]] = torch.aten._to_copy %{{.*}} -> !torch.vtensor<[?,8],f32>
  // CHECK: %[[SPLIT:.*]] = torch.aten.reshape %[[WIDE]], %{{.*}} -> !torch.vtensor<[?,2,4],f32>
  // CHECK: torch.aten.slice.Tensor %[[SPLIT]], %{{.*}} -> !torch.vtensor<[?,1,4],f32>
  // CHECK: %[[KNOWN:.*]] = torch.aten.reshape %[[WIDE]], %{{.*}} -> !torch.vtensor<[2,2,8],f32>
  // CHECK: torch.aten.slice.Tensor %[[KNOWN]], %{{.*}} -> !torch.vtensor<[2,1,8],f32>
  func.func private @region(%x: !x) -> (!h, !part) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %four = torch.constant.int 4
    %six = torch.constant.int 6
    %eight = torch.constant.int 8
    %rest = torch.constant.int -1
    %none = torch.constant.none
    %false = torch.constant.bool false
    %sizes = torch.prim.ListConstruct %rest, %two, %four : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %w = torch.aten._to_copy %x, %six, %none, %none, %none, %false, %none : !x, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !w
    %s = torch.aten.reshape %w, %sizes : !w, !torch.list<int> -> !s
    %a = torch.aten.slice.Tensor %s, %one, %zero, %one, %one : !s, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %all = torch.prim.ListConstruct %two, %two, %eight : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %t = torch.aten.reshape %w, %all : !w, !torch.list<int> -> !known
    %b = torch.aten.slice.Tensor %t, %one, %zero, %one, %one : !known, !torch.int, !torch.int, !torch.int, !torch.int -> !part
    return %a, %b : !h, !part
  }
}

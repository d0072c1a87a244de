// RUN: dovetail-opt %s --pass-pipeline='select-parts,raise-slices' | FileCheck %s
//
// Catches a number in the place of a size that only a call tells: what has open sizes stays as it is.

!x = !torch.vtensor<[?,64],f32>
!h = !torch.vtensor<[?,32],f32>
module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func private @region(
  // CHECK: %[[E:.*]] = torch.aten.exp
  // CHECK: %[[A:.*]] = torch.aten.slice.Tensor %[[E]],
  // CHECK: %[[B:.*]] = torch.aten.slice.Tensor %[[E]],
  // CHECK: %[[N:.*]] = torch.aten.neg %[[A]]
  // CHECK: %[[L:.*]] = torch.prim.ListConstruct %[[N]], %[[B]]
  // CHECK: torch.aten.cat %[[L]],
  func.func private @region(%x: !x) -> !x attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.int 32
    %end = torch.constant.int 64
    %e = torch.aten.exp %x : !x -> !x
    %a = torch.aten.slice.Tensor %e, %one, %half, %end, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %b = torch.aten.slice.Tensor %e, %one, %zero, %half, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %n = torch.aten.neg %a : !h -> !h
    %l = torch.prim.ListConstruct %n, %b : (!h, !h) -> !torch.list<vtensor>
    %c = torch.aten.cat %l, %one : !torch.list<vtensor>, !torch.int -> !x
    return %c : !x
  }
}

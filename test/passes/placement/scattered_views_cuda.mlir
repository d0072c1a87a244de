// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
//
// Catches a transposition of bfloat16 that ATen copies before a region: a GPU's threads share memory for it, as for any
// other type.

!v = !torch.vtensor<[256,512],bf16>
!t = !torch.vtensor<[512,256],bf16>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!rt = !dovetail.ref<!t, strided<[256, 1]>>
module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rv) -> !rt attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!rv) -> !rt
    return %0 : !rt
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK:       call @forward_region_0(%{{.*}}) : (!torch.vtensor<[256,512],bf16>)
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK:       torch.aten.transpose.int
  // CHECK:       torch.aten.exp
  func.func @forward(%x: !rv) -> !rt attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    %1 = torch.aten.transpose.int %0, %zero, %one : !v, !torch.int, !torch.int -> !t
    %2 = torch.aten.exp %1 : !t -> !t
    %3 = "dovetail.own"(%2) {requires_grad = false} : (!t) -> !rt
    return %3 : !rt
  }
}

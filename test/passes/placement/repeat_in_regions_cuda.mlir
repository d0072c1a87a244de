// RUN: dovetail-opt %s --pass-pipeline='place-ops,repeat-in-regions,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,repeat-in-regions,outline-regions' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='place-ops,repeat-in-regions,outline-regions' | FileCheck %s --check-prefix=CPU
//
// Catches a forward that stores a product of half precision once more, in float32, for a later region. The square of that is
// passed on, and what is converted of an argument, whose memory an update may want by then. And a literal of several regions,
// which has no operand to convert: the pass failed. And a number that one region fills memory with, for another one to read.

!h = !torch.vtensor<[512,256],bf16>
!w = !torch.vtensor<[256,256],bf16>
!v = !torch.vtensor<[512,256],f32>
!l = !torch.vtensor<[2,1],f32>
!n = !torch.vtensor<[],f32>
!rl = !dovetail.ref<!l, strided<[1, 1]>>
!rh = !dovetail.ref<!h, strided<[256, 1]>>
!rw = !dovetail.ref<!w, strided<[256, 1]>>
!r = !dovetail.ref<!v, strided<[256, 1]>>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rh, %w: !rw) -> (!r, !rl) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x, %w) : (!rh, !rw) -> (!r, !rl)
    return %0#0, %0#1 : !r, !rl
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[M:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[A:.*]]:3 = call @forward_region_1(%[[M]], %{{.*}}) : ({{.*}}) -> (!torch.vtensor<[512,256],f32>, !torch.vtensor<[512,256],f32>, !torch.vtensor<[512,256],bf16>)
  // CHECK: call @forward_region_2({{.*}}%[[M]]
  // CHECK-LABEL: func.func private @forward_region_2(
  // CHECK: torch.aten._to_copy
  // CHECK: torch.aten.scalar_tensor
  // CHECK: torch.aten._to_copy
  // CPU: call @forward_region_1({{.*}}) -> ({{.*}}!torch.vtensor<[],f32>{{.*}})
  func.func @forward(%x: !rh, %w: !rw) -> (!r, !rl) attributes {dovetail.role = "forward"} {
    %int6 = torch.constant.int 6
    %int15 = torch.constant.int 15
    %false = torch.constant.bool false
    %none = torch.constant.none
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!rh) -> !h
    %1 = "dovetail.read"(%w) : (!rw) -> !w
    %2 = torch.aten.mm %0, %1 : !h, !w -> !h
    %3 = torch.aten._to_copy %2, %int6, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %4 = torch.aten._to_copy %0, %int6, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %5 = torch.aten.mul.Tensor %3, %3 : !v, !v -> !v
    %half = torch.constant.float 0.5
    %number = torch.aten.scalar_tensor %half, %int6, %none, %none, %none : !torch.float, !torch.int, !torch.none, !torch.none, !torch.none -> !n
    %6 = torch.aten.add.Tensor %5, %4, %one : !v, !v, !torch.int -> !v
    %16 = torch.aten.mul.Tensor %6, %number : !v, !n -> !v
    %7 = torch.aten._to_copy %16, %int15, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    %8 = torch.aten.mm %7, %1 : !h, !w -> !h
    %9 = torch.aten._to_copy %8, %int6, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %10 = torch.aten.add.Tensor %9, %3, %one : !v, !v, !torch.int -> !v
    %11 = torch.aten.add.Tensor %10, %4, %one : !v, !v, !torch.int -> !v
    %17 = torch.aten.mul.Tensor %11, %number : !v, !n -> !v
    %12 = torch.aten.add.Tensor %17, %5, %one : !v, !v, !torch.int -> !v
    %literal = torch.vtensor.literal(dense<[[0.5], [2.0]]> : tensor<2x1xf32>) : !l
    %14 = torch.aten.mul.Tensor %literal, %literal : !l, !l -> !l
    %15 = "dovetail.own"(%14) {requires_grad = false} : (!l) -> !rl
    %13 = "dovetail.own"(%12) {requires_grad = false} : (!v) -> !r
    return %13, %15 : !r, !rl
  }
}

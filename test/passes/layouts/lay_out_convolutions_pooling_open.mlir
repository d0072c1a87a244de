// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values,partition,place-ops' | FileCheck %s
//
// Catches a number of one batch in the place of an open one in what regions of a GPU gather, and an error there: images of open
// batches lie in rows, and are pooled by ATen, forward and backward.

!x = !torch.vtensor<[?,64,56,56],f16>
!p = !torch.vtensor<[?,64,28,28],f16>
!q = !torch.vtensor<[?,64,28,28],si64>
!w = !torch.vtensor<[64,64,3,3],f16>
!l = !torch.list<int>
!rx = !dovetail.ref<!x, strided<[200704, 3136, 56, 1]>>
!rw = !dovetail.ref<!w, strided<[576, 9, 3, 1]>>
#x = affine_map<()[s0] -> (s0, 64, 56, 56)>
#p = affine_map<()[s0] -> (s0, 64, 28, 28)>

module attributes {dovetail.hints = array<i64: 64>, dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: torch.aten.permute
  // CHECK-NOT: torch.aten.index_select
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 0 : i64}, %arg0: !rx {dovetail.sizes = #x}, %arg1: !rw) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !l
    %twos = torch.prim.ListConstruct %2, %2 : (!torch.int, !torch.int) -> !l
    %threes = torch.prim.ListConstruct %3, %3 : (!torch.int, !torch.int) -> !l
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !l
    %x = "dovetail.read"(%arg0) {dovetail.sizes = [#x]} : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !x
    %6 = torch.aten.relu %4 {dovetail.sizes = [#x]} : !x -> !x
    // CHECK: %[[MAXIMA:.*]], %[[PLACES:.*]] = torch.aten.max_pool2d_with_indices %{{.*}} {dovetail.placement = "library", dovetail.placement_reason = "library kernel: pooling",
    %7, %8 = torch.aten.max_pool2d_with_indices %6, %threes, %twos, %ones, %ones, %false {dovetail.sizes = [#p, #p]} : !x, !l, !l, !l, !l, !torch.bool -> !p, !q
    // CHECK: torch.aten.convolution %[[MAXIMA]],
    %9 = torch.aten.convolution %7, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#p]} : !p, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !p
    // CHECK: torch.aten.max_pool2d_with_indices_backward %{{.*}}, %[[PLACES]] {dovetail.placement = "library", dovetail.placement_reason = "library kernel: pooling",
    %10 = torch.aten.max_pool2d_with_indices_backward %9, %6, %threes, %twos, %ones, %ones, %false, %8 {dovetail.sizes = [#x]} : !p, !x, !l, !l, !l, !l, !torch.bool, !q -> !x
    %13 = torch.aten.convolution %10, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !l, !l, !l, !torch.bool, !l, !torch.int -> !x
    %17 = "dovetail.own"(%13) {requires_grad = false} : (!x) -> !rx
    return %17 : !rx
  }
}

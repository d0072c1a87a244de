// RUN: dovetail-opt %s --pass-pipeline='place-ops,repeat-in-regions,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,repeat-in-regions,outline-regions' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='place-ops,repeat-in-regions,repeat-in-regions,outline-regions' | FileCheck %s
// RUN: sed 's/level = "split"/level = "split", dovetail.target = "cuda:sm_90"/' %s | dovetail-opt - --pass-pipeline='place-ops,repeat-in-regions,outline-regions' | FileCheck %s --check-prefix=GPU
//
// Catches a region that writes what a later one computes for less from what lies in memory anyway, and one that
// computes again what must be computed once, or for nothing: a decision, what is pinned, a sum.
//
// The backward's last region takes the decision, the pinned value, the sum, and what three `exp` give, which cost more
// than a tensor; it computes the square and the cube again, and takes neither. On a GPU it computes the `exp`, too.

!v = !torch.vtensor<[512,256],f32>
!w = !torch.vtensor<[256,256],f32>
!b = !torch.vtensor<[512,256],i1>
!s = !torch.vtensor<[512,1],f32>
!r = !dovetail.ref<!v, strided<[256, 1]>>
!rw = !dovetail.ref<!w, strided<[256, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r, %w: !rw) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %w) : (!r, !rw) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[F:.*]] = call @forward_region_0(
  // CHECK: %[[FM:.*]] = torch.operator "torch.aten.mm"(%[[F]],
  // CHECK: call @forward_region_1(%[[F]], %[[FM]])
  func.func @forward(%x: !r, %w: !rw) -> (!r, !v {dovetail.saved = "checked"}, !w {dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!rw) -> !w
    %2 = torch.aten.mul.Tensor %0, %0 : !v, !v -> !v
    %3 = torch.aten.mm %2, %1 : !v, !w -> !v
    %4 = torch.aten.mul.Tensor %2, %3 : !v, !v -> !v
    %o = "dovetail.own"(%4) {requires_grad = true} : (!v) -> !r
    return %o, %0, %1 : !r, !v, !w
  }
  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: %[[X:.*]]: !torch.vtensor<[512,256],f32>, %[[W:.*]]: !torch.vtensor<[256,256],f32>, %[[T:.*]]: !dovetail.ref
  // CHECK: %[[T0:.*]] = "dovetail.read"(%[[T]])
  // CHECK: %[[FIRST:.*]] = call @backward_region_0(%[[X]]) : ({{.*}}) -> !torch.vtensor<[512,256],f32>
  // CHECK: %[[REST:.*]]:4 = call @backward_region_1(%[[X]], %[[FIRST]]) :
  // CHECK: %[[M:.*]] = torch.operator "torch.aten.mm"(%[[REST]]#3, %[[W]])
  // CHECK: call @backward_region_2(%[[X]], %[[T0]], %[[M]], %[[REST]]#0, %[[FIRST]], %[[REST]]#1, %[[REST]]#2)
  // GPU: %[[FIRST:.*]] = call @backward_region_0(%[[X:.*]]) :
  // GPU: %[[REST:.*]]:3 = call @backward_region_1(%[[X]], %[[FIRST]]) :
  // GPU: call @backward_region_2(%[[X]], %{{.*}}, %{{.*}}, %[[REST]]#0, %[[FIRST]], %[[REST]]#1)
  func.func @backward(%x: !v, %w: !w, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %one = torch.constant.int 1
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %none = torch.constant.none
    %zero = torch.constant.float 0.0
    %g = "dovetail.read"(%t) : (!r) -> !v
    %pinned = torch.aten.sin %x {dovetail.pinned} : !v -> !v
    %square = torch.aten.mul.Tensor %x, %x : !v, !v -> !v
    %cube = torch.aten.mul.Tensor %square, %x : !v, !v -> !v
    %decided = torch.aten.gt.Scalar %cube, %zero : !v, !torch.float -> !b
    %sum = torch.aten.sum.dim_IntList %cube, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %e0 = torch.aten.exp %x : !v -> !v
    %e1 = torch.aten.exp %e0 : !v -> !v
    %e2 = torch.aten.exp %e1 : !v -> !v
    %0 = torch.aten.where.self %decided, %cube, %pinned : !b, !v, !v -> !v
    %1 = torch.aten.add.Tensor %0, %sum, %one : !v, !s, !torch.int -> !v
    %2 = torch.aten.add.Tensor %1, %e2, %one : !v, !v, !torch.int -> !v
    %m = torch.aten.mm %2, %w : !v, !w -> !v
    %3 = torch.aten.mul.Tensor %g, %m : !v, !v -> !v
    %4 = torch.aten.mul.Tensor %3, %square : !v, !v -> !v
    %5 = torch.aten.mul.Tensor %4, %cube : !v, !v -> !v
    %6 = torch.aten.where.self %decided, %5, %pinned : !b, !v, !v -> !v
    %7 = torch.aten.add.Tensor %6, %sum, %one : !v, !s, !torch.int -> !v
    %8 = torch.aten.add.Tensor %7, %e2, %one : !v, !v, !torch.int -> !v
    return %8 : !v
  }
  func.func private @apply(!r, !rw) -> !r attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
}

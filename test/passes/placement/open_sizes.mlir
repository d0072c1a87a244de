// RUN: dovetail-opt %s --place-ops | FileCheck %s
//
// Catches two open sizes that may differ and meet in a region: IREE takes them for equal, and reads beyond one of them; and a
// copy of what is expanded to open sizes.

!m = !torch.vtensor<[?,48],f32>
!r = !dovetail.ref<!torch.vtensor<[?,48],f32>, strided<[48, 1]>>
#n = affine_map<()[s0] -> (s0, 48)>
#k = affine_map<()[s0, s1] -> (s1, 48)>
#m = affine_map<()[s0, s1] -> (s0, s1)>
#one = affine_map<()[s0] -> (s0, 1)>
module attributes {dovetail.level = "split", dovetail.hints = array<i64: 5, 7>} {
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64}, %k: !torch.int {dovetail.symbol = 1 : i64},
                     %x: !r {dovetail.sizes = #n}, %y: !r {dovetail.sizes = #k}) -> !m attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#n]} : (!r) -> !m
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#k]} : (!r) -> !m
    // CHECK: torch.aten.tanh {{.*}} {dovetail.placement = "region",
    %2 = torch.aten.tanh %0 {dovetail.sizes = [#n]} : !m -> !m
    // CHECK: torch.aten.mul.Tensor {{.*}} {dovetail.placement = "region",
    %3 = torch.aten.mul.Tensor %2, %0 {dovetail.sizes = [#n]} : !m, !m -> !m
    // CHECK: torch.aten.mul.Tensor {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "sizes that are known only when it runs may differ"
    %4 = torch.aten.mul.Tensor %3, %1 {dovetail.sizes = [#n]} : !m, !m -> !m
    // CHECK: torch.aten.sigmoid {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "a size is known only when it runs"}
    %5 = torch.aten.sigmoid %4 : !m -> !m
    %dim = torch.constant.int 1
    %dims = torch.prim.ListConstruct %dim : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "region",
    %6 = torch.aten.amax %3, %dims, %true {dovetail.sizes = [#one]} : !m, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,1],f32>
    // A size of 1 that the type says is broadcast.
    // CHECK: torch.aten.div.Tensor {{.*}} {dovetail.placement = "region",
    %7 = torch.aten.div.Tensor %3, %6 {dovetail.sizes = [#n]} : !m, !torch.vtensor<[?,1],f32> -> !m
    // Of no elements ATen says that none is the largest, IREE's code reads beyond them.
    // CHECK: torch.aten.max {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "an open dimension may have no elements, of which none is the largest"
    %max = torch.aten.max %3 : !m -> !torch.vtensor<[],f32>
    // CHECK: torch.aten.mul.Scalar {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "a size is known only when it runs"
    %8 = torch.aten.mul.Scalar %7, %n {dovetail.sizes = [#n]} : !m, !torch.int -> !m
    %sizes = torch.prim.ListConstruct %n, %k : (!torch.int, !torch.int) -> !torch.list<int>
    %9 = torch.aten.expand %6, %sizes, %true {dovetail.sizes = [#m]} : !torch.vtensor<[?,1],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,?],f32>
    // CHECK: torch.aten.exp {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "ATen reads what is expanded to open sizes without a copy"
    %10 = torch.aten.exp %9 {dovetail.sizes = [#m]} : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
    // CHECK: torch.aten.tanh {{.*}} {dovetail.placement = "region",
    %11 = torch.aten.tanh %10 {dovetail.sizes = [#m]} : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
    return %8 : !m
  }
}

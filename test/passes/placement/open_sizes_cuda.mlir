// RUN: dovetail-opt %s --place-ops | FileCheck %s
//
// Catches columns, whole numbers, or several short rows of an open number in regions for a GPU, where IREE masks them wrongly
// or ATen is faster; and elements or long rows of an open number left to ATen.

!m = !torch.vtensor<[?,768],f32>
!s = !torch.vtensor<[?,64],f32>
!o = !torch.vtensor<[768,?],f32>
!c = !torch.vtensor<[?,768],si32>
!one = !torch.vtensor<[?,1],f32>
#n = affine_map<()[s0] -> (s0, 768)>
#s = affine_map<()[s0] -> (s0, 64)>
#o = affine_map<()[s0] -> (768, s0)>
#one = affine_map<()[s0] -> (s0, 1)>
#row = affine_map<()[s0] -> (1, 768)>
#col = affine_map<()[s0] -> (768, 1)>
module attributes {dovetail.level = "split", dovetail.hints = array<i64: 5>, dovetail.target = "cuda:sm_90"} {
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 9223372036854775807>},
                     %x: !dovetail.ref<!m, strided<[768, 1]>> {dovetail.sizes = #n},
                     %y: !dovetail.ref<!s, strided<[64, 1]>> {dovetail.sizes = #s},
                     %z: !dovetail.ref<!o, strided<[?, 1]>> {dovetail.sizes = #o},
                     %w: !dovetail.ref<!c, strided<[768, 1]>> {dovetail.sizes = #n}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#n]} : (!dovetail.ref<!m, strided<[768, 1]>>) -> !m
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#s]} : (!dovetail.ref<!s, strided<[64, 1]>>) -> !s
    %2 = "dovetail.read"(%z) {dovetail.sizes = [#o]} : (!dovetail.ref<!o, strided<[?, 1]>>) -> !o
    %3 = "dovetail.read"(%w) {dovetail.sizes = [#n]} : (!dovetail.ref<!c, strided<[768, 1]>>) -> !c
    %true = torch.constant.bool true
    %zero = torch.constant.int 0
    %end = torch.constant.int -1
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %end : (!torch.int) -> !torch.list<int>
    // CHECK: torch.aten.tanh {{.*}} {dovetail.placement = "region",
    %4 = torch.aten.tanh %0 {dovetail.sizes = [#n]} : !m -> !m
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "region",
    %5 = torch.aten.amax %4, %last, %true {dovetail.sizes = [#one]} : !m, !torch.list<int>, !torch.bool -> !one
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "on a GPU, rows of float32 alone are reduced where sizes are open"
    %6 = torch.aten.amax %4, %first, %true {dovetail.sizes = [#row]} : !m, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,768],f32>
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "on a GPU, ATen reduces an open number of short rows faster"
    %7 = torch.aten.amax %1, %last, %true {dovetail.sizes = [#one]} : !s, !torch.list<int>, !torch.bool -> !one
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "on a GPU, ATen reduces an open number of short rows faster"
    %8 = torch.aten.amax %2, %last, %true {dovetail.sizes = [#col]} : !o, !torch.list<int>, !torch.bool -> !torch.vtensor<[768,1],f32>
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "on a GPU, rows of float32 alone are reduced where sizes are open"
    %9 = torch.aten.amax %3, %last, %true {dovetail.sizes = [#one]} : !c, !torch.list<int>, !torch.bool -> !torch.vtensor<[?,1],si32>
    return
  }
}

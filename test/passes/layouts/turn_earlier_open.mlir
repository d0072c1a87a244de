// RUN: dovetail-opt %s --pass-pipeline='turn-earlier' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='turn-earlier' --run-check -o %t
//
// Catches a permutation of open sizes that is moved, though nothing says that it is of a large tensor.

!v = !torch.vtensor<[?,?],f32>
!rv = !dovetail.ref<!v, strided<[?, 1]>>
#v = affine_map<()[s0, s1] -> (s0, s1)>
#t = affine_map<()[s0, s1] -> (s1, s0)>
#q = affine_map<()[s0, s1] -> (s1, s1)>
module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90", dovetail.hints = array<i64: 500, 700>} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[EXP:.*]] = torch.aten.exp
  // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[EXP]]
  // CHECK: torch.aten.mm %[[TURNED]]
  func.func @joint(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 900>}, %k: !torch.int {dovetail.symbol = 1 : i64, dovetail.range = array<i64: 2, 900>},
                   %x: !rv {dovetail.sizes = #v}) -> !rv attributes {dovetail.role = "joint"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#v]} : (!rv) -> !v
    %1 = torch.aten.exp %0 {dovetail.sizes = [#v]} : !v -> !v
    %2 = torch.aten.permute %1, %order {dovetail.sizes = [#t]} : !v, !torch.list<int> -> !v
    %3 = torch.aten.mm %2, %0 {dovetail.sizes = [#q]} : !v, !v -> !v
    %4 = "dovetail.own"(%3, %k) {requires_grad = false} : (!v, !torch.int) -> !rv
    return %4 : !rv
  }
}

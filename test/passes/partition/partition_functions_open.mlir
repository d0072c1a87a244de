// RUN: dovetail-opt %s --pass-pipeline='partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0}' | FileCheck %s --check-prefix=AGAIN
//
// Catches an elementary function of open sizes that a product of the forward takes, and one of the backward, and that a
// region of the backward computes again for nothing else. What costs no elementary function is computed again, as is all of it
// where memory has a budget.

!x = !torch.vtensor<[?,16],f32>
!y = !torch.vtensor<[16,?],f32>
!w = !torch.vtensor<[16,16],f32>
!rx = !dovetail.ref<!x, strided<[16, 1]>>
!rw = !dovetail.ref<!w, strided<[16, 1]>>
#s = affine_map<()[s0] -> (s0, 16)>
#t = affine_map<()[s0] -> (16, s0)>

module attributes {dovetail.hints = array<i64: 8>, dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[EXP:.*]] = torch.aten.exp
  // CHECK: torch.aten.relu
  // CHECK: return {{.*}}%[[EXP]]
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.exp
  // CHECK: torch.aten.relu
  // CHECK-NOT: torch.aten.exp
  // CHECK: return
  // AGAIN-LABEL: func.func @backward(
  // AGAIN: torch.aten.exp
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %a: !rx {dovetail.requires_grad, dovetail.sizes = #s}, %b: !rw {dovetail.requires_grad}, %c: !rw {dovetail.requires_grad}) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %turn = torch.prim.ListConstruct %1, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%a) {dovetail.sizes = [#s]} : (!rx) -> !x
    %w = "dovetail.read"(%b) : (!rw) -> !w
    %v = "dovetail.read"(%c) : (!rw) -> !w
    %h = torch.aten.mm %x, %w {dovetail.sizes = [#s]} : !x, !w -> !x
    %e = torch.aten.exp %h {dovetail.sizes = [#s]} : !x -> !x
    %r = torch.aten.relu %h {dovetail.sizes = [#s]} : !x -> !x
    %p = torch.aten.mm %e, %w {dovetail.sizes = [#s]} : !x, !w -> !x
    %q = torch.aten.mm %r, %v {dovetail.sizes = [#s]} : !x, !w -> !x
    %s = torch.aten.add.Tensor %p, %q, %1 {dovetail.sizes = [#s]} : !x, !x, !torch.int -> !x
    %o = "dovetail.own"(%s) {requires_grad = true} : (!x) -> !rx
    %t = "dovetail.tangent"(%o) {dovetail.sizes = [#s]} : (!rx) -> !rx
    %d = "dovetail.read"(%t) {dovetail.sizes = [#s]} : (!rx) -> !x
    %et = torch.aten.permute %e, %turn {dovetail.sizes = [#t]} : !x, !torch.list<int> -> !y
    %rt = torch.aten.permute %r, %turn {dovetail.sizes = [#t]} : !x, !torch.list<int> -> !y
    %dw = torch.aten.mm %et, %d : !y, !x -> !w
    %dv = torch.aten.mm %rt, %d : !y, !x -> !w
    %dx = torch.aten.mul.Tensor %d, %h {dovetail.sizes = [#s]} : !x, !x -> !x
    "dovetail.gradient"(%dx, %a) : (!x, !rx) -> ()
    "dovetail.gradient"(%dw, %b) : (!w, !rw) -> ()
    "dovetail.gradient"(%dv, %c) : (!w, !rw) -> ()
    return %o : !rx
  }
}

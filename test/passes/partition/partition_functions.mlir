// RUN: dovetail-opt %s --pass-pipeline='partition,verify-level{level=split}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{memory-budget=0}' | FileCheck %s --check-prefix=AGAIN
//
// Catches an elementary function that a product of the forward takes, and one of the backward, and that a region of the backward computes
// again for nothing else. What costs no elementary function is computed again, as is all of it where memory has a budget.

!x = !torch.vtensor<[8,16],f32>
!y = !torch.vtensor<[16,8],f32>
!w = !torch.vtensor<[16,16],f32>
!rx = !dovetail.ref<!x, strided<[16, 1]>>
!rw = !dovetail.ref<!w, strided<[16, 1]>>

module attributes {dovetail.level = "joint"} {
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
  func.func @joint(%a: !rx {dovetail.requires_grad}, %b: !rw {dovetail.requires_grad}, %c: !rw {dovetail.requires_grad}) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %turn = torch.prim.ListConstruct %1, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%a) : (!rx) -> !x
    %w = "dovetail.read"(%b) : (!rw) -> !w
    %v = "dovetail.read"(%c) : (!rw) -> !w
    %h = torch.aten.mm %x, %w : !x, !w -> !x
    %e = torch.aten.exp %h : !x -> !x
    %r = torch.aten.relu %h : !x -> !x
    %p = torch.aten.mm %e, %w : !x, !w -> !x
    %q = torch.aten.mm %r, %v : !x, !w -> !x
    %s = torch.aten.add.Tensor %p, %q, %1 : !x, !x, !torch.int -> !x
    %o = "dovetail.own"(%s) {requires_grad = true} : (!x) -> !rx
    %t = "dovetail.tangent"(%o) : (!rx) -> !rx
    %d = "dovetail.read"(%t) : (!rx) -> !x
    %et = torch.aten.permute %e, %turn : !x, !torch.list<int> -> !y
    %rt = torch.aten.permute %r, %turn : !x, !torch.list<int> -> !y
    %dw = torch.aten.mm %et, %d : !y, !x -> !w
    %dv = torch.aten.mm %rt, %d : !y, !x -> !w
    %dx = torch.aten.mul.Tensor %d, %h : !x, !x -> !x
    "dovetail.gradient"(%dx, %a) : (!x, !rx) -> ()
    "dovetail.gradient"(%dw, %b) : (!w, !rw) -> ()
    "dovetail.gradient"(%dv, %c) : (!w, !rw) -> ()
    return %o : !rx
  }
}

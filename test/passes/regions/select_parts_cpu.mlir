// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,select-parts' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,select-parts,lower-regions' --run-check -o %t
//
// Catches a rotary embedding whose halves a CPU stores and ATen joins between two regions; a choice made where nothing
// goes on with the result, which ATen joins by rows; and one between parts of an open size, whose end nobody knows.

!x = !torch.vtensor<[8,64],f32>
!h = !torch.vtensor<[8,32],f32>
!y = !torch.vtensor<[?,64],f32>
!g = !torch.vtensor<[?,32],f32>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!ry = !dovetail.ref<!y, strided<[64, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rx, %y: !ry) -> (!rx, !rx, !ry) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x, %y) : (!rx, !ry) -> (!rx, !rx, !ry)
    return %0#0, %0#1, %0#2 : !rx, !rx, !ry
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-COUNT-2: torch.operator "torch.aten.cat"
  // CHECK-NOT: torch.operator "torch.aten.cat"
  // CHECK-LABEL: func.func private @
  // CHECK: torch.aten.where.self {{.*}} -> !torch.vtensor<[8,2,32],f32>
  func.func @forward(%x: !rx, %y: !ry) -> (!rx, !rx, !ry) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.int 32
    %end = torch.constant.int 64
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = torch.aten.slice.Tensor %0, %one, %half, %end, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %2 = torch.aten.slice.Tensor %0, %one, %zero, %half, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %3 = torch.aten.neg %1 : !h -> !h
    %4 = torch.prim.ListConstruct %3, %2 : (!h, !h) -> !torch.list<vtensor>
    %5 = torch.aten.cat %4, %one : !torch.list<vtensor>, !torch.int -> !x
    %6 = torch.aten.mul.Tensor %5, %0 : !x, !x -> !x
    %7 = torch.aten.exp %2 : !h -> !h
    %8 = torch.prim.ListConstruct %1, %7 : (!h, !h) -> !torch.list<vtensor>
    %9 = torch.aten.cat %8, %one : !torch.list<vtensor>, !torch.int -> !x
    %10 = "dovetail.read"(%y) : (!ry) -> !y
    %11 = torch.aten.slice.Tensor %10, %one, %half, %end, %one : !y, !torch.int, !torch.int, !torch.int, !torch.int -> !g
    %12 = torch.prim.ListConstruct %11, %11 : (!g, !g) -> !torch.list<vtensor>
    %13 = torch.aten.cat %12, %one : !torch.list<vtensor>, !torch.int -> !y
    %14 = torch.aten.mul.Tensor %13, %10 : !y, !y -> !y
    %15 = "dovetail.own"(%6) {requires_grad = false} : (!x) -> !rx
    %16 = "dovetail.own"(%9) {requires_grad = false} : (!x) -> !rx
    %17 = "dovetail.own"(%14) {requires_grad = false} : (!y) -> !ry
    return %15, %16, %17 : !rx, !rx, !ry
  }
}

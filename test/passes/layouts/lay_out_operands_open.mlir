// RUN: dovetail-opt %s --pass-pipeline='lay-out-operands' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-operands' --run-check -o %t
//
// Catches a tensor of open length that the host copies for a matrix product, though a region may write it so.

!v = !torch.vtensor<[2,4,?,16],f32>
!h = !torch.vtensor<[2,?,4,16],f32>
!m = !torch.vtensor<[?,64],f32>
!w = !torch.vtensor<[64,64],f32>
!rv = !dovetail.ref<!v, strided<[?, ?, 16, 1]>>
!rw = !dovetail.ref<!w, strided<[64, 1]>>
!rm = !dovetail.ref<!m, strided<[64, 1]>>
!l = !torch.list<int>
#v = affine_map<()[s0] -> (2, 4, s0, 16)>
#h = affine_map<()[s0] -> (2, s0, 4, 16)>
#m = affine_map<()[s0] -> (s0 * 2, 64)>

module attributes {dovetail.level = "split", dovetail.hints = array<i64: 8>} {
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !rv {dovetail.sizes = #v}, %w: !rw) -> !rm attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %x, %w) : (!torch.int, !rv, !rw) -> !rm
    return %0 : !rm
  }
  // CHECK-DAG: #[[H:.*]] = affine_map<()[s0] -> (2, s0, 4, 16)>
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 9>}, %x: !rv {dovetail.sizes = #v}, %w: !rw) -> !rm attributes {dovetail.role = "forward"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %64 = torch.constant.int 64
    %rows = torch.aten.mul.int %n, %2 : !torch.int, !torch.int -> !torch.int
    %order = torch.prim.ListConstruct %0, %2, %1, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !l
    %sizes = torch.prim.ListConstruct %rows, %64 : (!torch.int, !torch.int) -> !l
    %a = "dovetail.read"(%x) {dovetail.sizes = [#v]} : (!rv) -> !v
    %b = "dovetail.read"(%w) : (!rw) -> !w
    %4 = torch.aten.sin %a {dovetail.sizes = [#v]} : !v -> !v
    // CHECK: %[[TURNED:.*]] = torch.aten.permute
    // CHECK: %[[LAID:.*]] = torch.aten.clone %[[TURNED]], %{{.*}} {dovetail.sizes = [#[[H]]]}
    // CHECK: torch.aten.view %[[LAID]]
    %5 = torch.aten.permute %4, %order {dovetail.sizes = [#h]} : !v, !l -> !h
    %6 = torch.aten.view %5, %sizes {dovetail.sizes = [#m]} : !h, !l -> !m
    %7 = torch.aten.mm %6, %b {dovetail.sizes = [#m]} : !m, !w -> !m
    %o = "dovetail.own"(%7) {requires_grad = false} : (!m) -> !rm
    return %o : !rm
  }
}

// RUN: dovetail-opt %s --pass-pipeline='lay-out-operands' -o %t
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %t --pass-pipeline='place-ops,outline-regions' | FileCheck %s --check-prefix=OUTLINED
// RUN: dovetail-opt %s --pass-pipeline='lay-out-operands' --run-check -o %t
//
// Catches a tensor that a region writes, and the host copies for a matrix product: the region may write it as that reads
// it. And a copy more where the host makes none, where rows are torn apart, or where no region computes the tensor.

!v = !torch.vtensor<[2,4,8,16],f32>
!h = !torch.vtensor<[2,8,4,16],f32>
!t = !torch.vtensor<[2,4,16,8],f32>
!m = !torch.vtensor<[16,64],f32>
!n = !torch.vtensor<[8,128],f32>
!w = !torch.vtensor<[64,64],f32>
!rv = !dovetail.ref<!v, strided<[512, 128, 16, 1]>>
!rw = !dovetail.ref<!w, strided<[64, 1]>>
!rm = !dovetail.ref<!m, strided<[64, 1]>>
!l = !torch.list<int>

module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @forward(
  // OUTLINED-LABEL: func.func @forward(
  func.func @call(%x: !rv, %w: !rw) -> (!rm, !rm, !rm, !rm) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %w) : (!rv, !rw) -> (!rm, !rm, !rm, !rm)
    return %0#0, %0#1, %0#2, %0#3 : !rm, !rm, !rm, !rm
  }
  func.func @forward(%x: !rv, %w: !rw) -> (!rm, !rm, !rm, !rm) attributes {dovetail.role = "forward"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %16 = torch.constant.int 16
    %64 = torch.constant.int 64
    %order = torch.prim.ListConstruct %0, %2, %1, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !l
    %torn = torch.prim.ListConstruct %0, %3, %1, %2 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !l
    %sizes = torch.prim.ListConstruct %16, %64 : (!torch.int, !torch.int) -> !l
    %a = "dovetail.read"(%x) : (!rv) -> !v
    %b = "dovetail.read"(%w) : (!rw) -> !w
    // CHECK: %[[SINE:.*]] = torch.aten.sin
    %4 = torch.aten.sin %a : !v -> !v
    // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[SINE]]
    // CHECK: %[[LAID:.*]] = torch.aten.clone %[[TURNED]], %{{.*}}
    // CHECK: torch.aten.view %[[LAID]]
    // OUTLINED: %[[WRITTEN:.*]]:{{.*}} = call @forward_region_0
    // OUTLINED-NOT: torch.aten.permute %[[WRITTEN]]
    // OUTLINED: torch.aten.view %[[WRITTEN]]
    %5 = torch.aten.permute %4, %order : !v, !l -> !h
    %6 = torch.aten.view %5, %sizes : !h, !l -> !m
    %7 = torch.aten.mm %6, %b : !m, !w -> !m
    // COM: Rows of 16 would become columns.
    // CHECK-NOT: clone
    %8 = torch.aten.cos %a : !v -> !v
    %9 = torch.aten.permute %8, %torn : !v, !l -> !torch.vtensor<[2,16,4,8],f32>
    %10 = torch.aten.view %9, %sizes : !torch.vtensor<[2,16,4,8],f32>, !l -> !m
    %11 = torch.aten.mm %10, %b : !m, !w -> !m
    // COM: This is shown as it is.
    %12 = torch.aten.exp %a : !v -> !v
    %13 = torch.aten.view %12, %sizes : !v, !l -> !m
    %14 = torch.aten.mm %13, %b : !m, !w -> !m
    // COM: An argument lies as the caller has it.
    %15 = torch.aten.permute %a, %order : !v, !l -> !h
    %17 = torch.aten.view %15, %sizes : !h, !l -> !m
    %18 = torch.aten.mm %17, %b : !m, !w -> !m
    %o = "dovetail.own"(%7) {requires_grad = false} : (!m) -> !rm
    %p = "dovetail.own"(%11) {requires_grad = false} : (!m) -> !rm
    %q = "dovetail.own"(%14) {requires_grad = false} : (!m) -> !rm
    %r = "dovetail.own"(%18) {requires_grad = false} : (!m) -> !rm
    return %o, %p, %q, %r : !rm, !rm, !rm, !rm
  }
}

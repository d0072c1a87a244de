// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,verify-level{level=program}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,verify-level{level=program}' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt --pass-pipeline='place-ops,outline-regions,verify-level{level=program}' | FileCheck %s --check-prefix=CPU
//
// Catches one number of each row that ATen gathers on a GPU between two regions; and a region that has to store what it computes
// for such a gather, gathers several numbers of each row or from a part of rows, of which IREE's kernels read others, or
// gathers on a CPU, whose code checks nothing.

!x = !torch.vtensor<[8,64],f32>
!r = !torch.vtensor<[8,1],f32>
!i = !torch.vtensor<[8,1],si64>
!s = !torch.vtensor<[8,63],f32>
!t = !torch.vtensor<[8,2],f32>
!j = !torch.vtensor<[8,2],si64>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!rr = !dovetail.ref<!r, strided<[1, 1]>>
!ri = !dovetail.ref<!i, strided<[1, 1]>>
!rt = !dovetail.ref<!t, strided<[2, 1]>>
!rj = !dovetail.ref<!j, strided<[2, 1]>>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx, %i: !ri, %j: !rj) -> (!rr, !rr, !rt, !rr) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %i, %j) : (!rx, !ri, !rj) -> (!rr, !rr, !rt, !rr)
    return %0#0, %0#1, %0#2, %0#3 : !rr, !rr, !rt, !rr
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-COUNT-3: torch.operator "torch.aten.gather"
  // CHECK-NOT:     torch.operator "torch.aten.gather"
  // CPU-COUNT-4:   torch.operator "torch.aten.gather"
  func.func @forward(%xr: !rx, %ir: !ri, %jr: !rj) -> (!rr, !rr, !rt, !rr) attributes {dovetail.role = "forward"} {
    %x = "dovetail.read"(%xr) : (!rx) -> !x
    %i = "dovetail.read"(%ir) : (!ri) -> !i
    %j = "dovetail.read"(%jr) : (!rj) -> !j
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %false = torch.constant.bool false
    %safe = torch.aten.clamp %i, %0, %1 : !i, !torch.int, !torch.int -> !i
    %10 = torch.aten.gather %x, %1, %safe, %false : !x, !torch.int, !i, !torch.bool -> !r
    %11 = torch.aten.neg %10 : !r -> !r
    %12 = torch.aten.exp %x : !x -> !x
    %13 = torch.aten.gather %12, %1, %i, %false : !x, !torch.int, !i, !torch.bool -> !r
    %14 = torch.aten.gather %x, %1, %j, %false : !x, !torch.int, !j, !torch.bool -> !t
    %end = torch.constant.int 63
    %part = torch.aten.slice.Tensor %x, %1, %0, %end, %1 : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    %15 = torch.aten.gather %part, %1, %safe, %false : !s, !torch.int, !i, !torch.bool -> !r
    %16 = torch.aten.neg %15 : !r -> !r
    %o0 = "dovetail.own"(%11) {requires_grad = false} : (!r) -> !rr
    %o1 = "dovetail.own"(%13) {requires_grad = false} : (!r) -> !rr
    %o2 = "dovetail.own"(%14) {requires_grad = false} : (!t) -> !rt
    %o3 = "dovetail.own"(%16) {requires_grad = false} : (!r) -> !rr
    return %o0, %o1, %o2, %o3 : !rr, !rr, !rt, !rr
  }
  // CHECK: func.func private @forward_region_
  // CHECK: torch.aten.gather %{{.*}} -> !torch.vtensor<[8,1],f32>
  // CHECK: torch.aten.neg
}

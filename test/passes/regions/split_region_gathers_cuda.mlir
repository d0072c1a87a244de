// RUN: dovetail-opt %s --pass-pipeline='split-region{region=forward_region_0},choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='split-region{region=forward_region_0},choose-drivers,verify-level{level=regions}' --run-check -o %t
//
// Catches a piece that takes from the other one where it gathers, so that nothing in it shows that this is within range.

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!w = !torch.vtensor<[2,4,8],f32>
!q = !torch.vtensor<[2,6,8],f32>
!rx = !dovetail.ref<!x, strided<[32, 4, 1]>>
!rw = !dovetail.ref<!w, strided<[32, 8, 1]>>
!ro = !dovetail.ref<!o, strided<[24, 4, 1]>>
!rq = !dovetail.ref<!q, strided<[48, 8, 1]>>
!m = !torch.tensor<[2,6,4],f32>

module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx) -> !ro attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!rx) -> !ro
    return %0 : !ro
  }
  func.func @forward(%xr: !rx) -> !ro attributes {dovetail.role = "forward"} {
    %x = "dovetail.read"(%xr) : (!rx) -> !x
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%x, %a) : (!x, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !o
    %o = "dovetail.own"(%2) {requires_grad = false} : (!o) -> !ro
    return %o : !ro
  }
  // CHECK-LABEL: func.func private @forward_region_0_0(
  // CHECK: %[[C:.*]] = torch.aten.arange
  // CHECK: %[[N:.*]] = torch.aten.clamp %[[C]]
  // CHECK: torch.aten.index_select %{{.*}}, %{{.*}}, %[[N]]
  // CHECK-LABEL: func.func private @forward_region_0_1(
  // CHECK-SAME: %{{[^,]*}}: !torch.vtensor<[2,6,4],f32>, %{{[^,]*}}: !torch.tensor<[2,6,4],f32>)
  // CHECK: %[[C:.*]] = torch.aten.arange
  // CHECK: %[[N:.*]] = torch.aten.clamp %[[C]]
  // CHECK: torch.aten.index_select %{{.*}}, %{{.*}}, %[[N]]
  func.func private @forward_region_0(%x: !x, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %n = torch.aten.clamp %c, %1, %5 : !i, !torch.int, !torch.int -> !i
    %10 = torch.aten.index_select %x, %1, %n : !x, !torch.int, !i -> !o
    %11 = torch.aten.exp %10 : !o -> !o
    %12 = torch.aten.index_select %11, %1, %n : !o, !torch.int, !i -> !o
    %13 = torch.aten.neg %12 : !o -> !o
    torch.overwrite.tensor.contents %13 overwrites %a : !o, !m
    return
  }
}

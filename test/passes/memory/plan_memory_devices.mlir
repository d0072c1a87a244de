// Would catch dead memory of the CPU's that a region on a GPU is given for its result.
// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory' | FileCheck %s

!v = !torch.vtensor<[1024],f32>
!m = !torch.tensor<[1024],f32>
!gpu = !dovetail.ref<!v, strided<[1]>>
!host = !dovetail.ref<!v, #dovetail.layout<strided<[1]>, "cpu">>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !gpu, %y: !host) -> !gpu attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %y) : (!gpu, !host) -> !gpu
    return %0 : !gpu
  }
  // CHECK-LABEL: func.func @forward
  func.func @forward(%x: !gpu, %y: !host) -> !gpu attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!gpu) -> !v
    %1 = "dovetail.read"(%y) : (!host) -> !v
    %2 = torch.operator "torch.aten.exp"(%1) {dovetail.reason = "elsewhere"} : (!v) -> !v
    %3 = torch.operator "torch.aten.sin"(%2) {dovetail.reason = "elsewhere"} : (!v) -> !v
    // CHECK: dovetail.alloc
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %4 = torch.copy.to_vtensor %a : !v
    // CHECK-NOT: dovetail.reuse
    // CHECK: dovetail.alloc
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%4, %b) : (!v, !m) -> ()
    %5 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !gpu
    return %o : !gpu
  }
  func.func private @forward_region_0(%x: !v, %d: !m) attributes {dovetail.role = "region", dovetail.driver = "local-sync"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %d : !v, !m
    return
  }
}

// RUN: dovetail-opt %s --pass-pipeline='state-recordable' | FileCheck %s
//
// Catches a graph of what only the host does: what it decides, and what an op of somebody else's does there.

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
!rb = !dovetail.ref<!b, strided<[]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r, %p: !rb) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %p) : (!r, !rb) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%x: !r, %p: !rb) -> !r attributes {dovetail.role = "forward"} {
    %cpu = torch.constant.device "cpu"
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%p) : (!rb) -> !b
    // CHECK: "torch.mine.op"(%{{.*}}) {dovetail.not_recordable = "mine.op.default may do anything on the host", dovetail.reason
    %2 = torch.operator "torch.mine.op"(%0) {dovetail.reason = "a test"} : (!v) -> !v
    // CHECK: "torch.dovetail.cond"({{.*}}) {dovetail.else = @branch, dovetail.not_recordable = "the host decides what runs"
    %3 = torch.operator "torch.dovetail.cond"(%1, %2) {dovetail.then = @branch, dovetail.else = @branch, dovetail.reason = "control flow"} : (!b, !v) -> !v
    // COM: Whether a region launches, only loading tells.
    // CHECK: call @forward_region_0(%{{[^{}]*$}}
    %d = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%3, %d) : (!v, !m) -> ()
    %4 = torch.copy.to_vtensor %d : !v
    // CHECK: "torch.aten._to_copy"({{.*}}) {dovetail.not_recordable = "aten._to_copy.default makes a tensor on the CPU"
    %5 = torch.operator "torch.aten._to_copy"(%4, %none, %none, %cpu, %none, %false, %none) {dovetail.reason = "a test"} : (!v, !torch.none, !torch.none, !torch.Device, !torch.none, !torch.bool, !torch.none) -> !v
    // CHECK: "torch.aten.exp"({{.*}}) {dovetail.not_recordable = "aten.exp.default reads memory of the CPU"
    %6 = torch.operator "torch.aten.exp"(%5) {dovetail.reason = "a test"} : (!v) -> !v
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // CHECK-NOT: not_recordable
  func.func private @branch(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
  func.func private @forward_region_0(%x: !v, %d: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %d : !v, !m
    return
  }
}

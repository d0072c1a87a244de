// RUN: dovetail-opt %s --split-input-file --pass-pipeline='state-recordable' | FileCheck %s
//
// Catches a graph of what only the host does: what it decides, what an op of somebody else's does there, and numbers
// that it draws or computes, of which every replay would take those of the capture.

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
    // CHECK: "torch.aten.exp"({{.*}}) {dovetail.not_recordable = "aten.exp.default makes a tensor on the CPU"
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

// -----

// COM: What has no tensor among its operands may draw; of what a constant or a list leads to, no operand names the device.
!v = !torch.vtensor<[4],f32>
!n = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!rn = !dovetail.ref<!n, #dovetail.layout<strided<[]>, "cpu">>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r) -> (!r, !rn) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !rn)
    return %0#0, %0#1 : !r, !rn
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%x: !r) -> (!r, !rn) attributes {dovetail.role = "forward"} {
    %cpu = torch.constant.device "cpu"
    %cuda = torch.constant.device "cuda:0"
    %none = torch.constant.none
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %one = torch.constant.float 1.0
    %sizes = torch.prim.ListConstruct : () -> !torch.list<int>
    %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // CHECK: "torch.aten.rand"({{.*}}) {dovetail.effect = "draws", dovetail.not_recordable = "aten.rand.default makes a tensor on the CPU"
    %1 = torch.operator "torch.aten.rand"(%sizes, %none, %none, %cpu, %false) {dovetail.effect = "draws", dovetail.reason = "a test"} : (!torch.list<int>, !torch.none, !torch.none, !torch.Device, !torch.bool) -> !n
    // CHECK: torch.vtensor.literal({{.*}}) {dovetail.device = "cpu"} : !torch.vtensor<[],f32>
    %2 = torch.vtensor.literal(dense<0.5> : tensor<f32>) {dovetail.device = "cpu"} : !n
    // CHECK: "torch.aten.bernoulli"({{.*}}) {dovetail.effect = "draws", dovetail.not_recordable = "aten.bernoulli.default makes a tensor on the CPU"
    %3 = torch.operator "torch.aten.bernoulli"(%2, %none) {dovetail.effect = "draws", dovetail.reason = "a test"} : (!n, !torch.none) -> !n
    // CHECK: "torch.aten.mul.Tensor"({{.*}}) {dovetail.reason = "a test"}
    %4 = torch.operator "torch.aten.mul.Tensor"(%0, %3) {dovetail.reason = "a test"} : (!v, !n) -> !v
    %5 = torch.vtensor.literal(dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>) {dovetail.device = "cpu"} : !v
    // CHECK: "torch.aten.flip"({{.*}}) {dovetail.not_recordable = "aten.flip.default makes a tensor on the CPU"
    %6 = torch.operator "torch.aten.flip"(%5, %dims) {dovetail.reason = "a test"} : (!v, !torch.list<int>) -> !v
    // CHECK: "torch.aten._to_copy"({{.*}}) {dovetail.not_recordable = "aten._to_copy.default reads memory of the CPU"
    %7 = torch.operator "torch.aten._to_copy"(%6, %none, %none, %cuda, %none, %true, %none) {dovetail.reason = "a test"} : (!v, !torch.none, !torch.none, !torch.Device, !torch.none, !torch.bool, !torch.none) -> !v
    %8 = torch.prim.ListConstruct %5 : (!v) -> !torch.list<vtensor>
    // CHECK: "torch.aten.cat"({{.*}}) {dovetail.not_recordable = "aten.cat.default makes a tensor on the CPU"
    %9 = torch.operator "torch.aten.cat"(%8, %int0) {dovetail.reason = "a test"} : (!torch.list<vtensor>, !torch.int) -> !v
    // COM: The caller may write the number of the recording, which no replay makes anew.
    // CHECK: "torch.aten.scalar_tensor"({{.*}}) {dovetail.reason = "a test"}
    %10 = torch.operator "torch.aten.scalar_tensor"(%one, %none, %none, %cpu, %none) {dovetail.reason = "a test"} : (!torch.float, !torch.none, !torch.none, !torch.Device, !torch.none) -> !n
    // CHECK: "dovetail.own"({{.*}}) {requires_grad = false} : (!torch.vtensor<[4],f32>)
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    // CHECK: "dovetail.own"({{.*}}) {dovetail.not_recordable = "a result lies on the CPU", requires_grad = false}
    %p = "dovetail.own"(%10) {requires_grad = false} : (!n) -> !rn
    return %o, %p : !r, !rn
  }
}

// -----

// COM: Of open sizes: a number on the CPU is a parameter, more is memory.
!v = !torch.vtensor<[?],f32>
!n = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[1]>>
#s = affine_map<()[s0] -> (s0)>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %x) : (!torch.int, !r) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> !r attributes {dovetail.role = "forward"} {
    %cpu = torch.constant.device "cpu"
    %none = torch.constant.none
    %false = torch.constant.bool false
    %sizes = torch.prim.ListConstruct %n : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.vtensor.literal(dense<0.5> : tensor<f32>) {dovetail.device = "cpu"} : !n
    // CHECK: "torch.aten.mul.Tensor"({{.*}}) {dovetail.reason = "a test", dovetail.sizes
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test", dovetail.sizes = [#s]} : (!v, !n) -> !v
    // CHECK: "torch.aten.randn"({{.*}}) {dovetail.effect = "draws", dovetail.not_recordable = "aten.randn.default makes a tensor on the CPU"
    %3 = torch.operator "torch.aten.randn"(%sizes, %none, %none, %cpu, %false) {dovetail.effect = "draws", dovetail.reason = "a test", dovetail.sizes = [#s]} : (!torch.list<int>, !torch.none, !torch.none, !torch.Device, !torch.bool) -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}

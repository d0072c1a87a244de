// RUN: dovetail-opt %s --split-input-file --pass-pipeline='state-recordable' -o %t
// RUN: FileCheck %s < %t
// RUN: dovetail-opt %t --split-input-file --pass-pipeline='state-recordable,verify-level{level=regions}' | diff %t -
// RUN: dovetail-opt %s --split-input-file --pass-pipeline='state-recordable' --run-check -o %t
//
// Catches a parameter that each call copies, an input whose first address all replays read, and a number or a branch of
// the first call that all replays would take.

!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>

module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r, %w: !r {dovetail.static}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %w) : (!r, !r) -> !r
    return %0 : !r
  }

  func.func private @apply(!r, !r) -> !r attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.once = "a test", dovetail.role = "border"}

  // COM: Nobody says that it stays, but this pass; what it said before is nothing that it relies on.
  // CHECK: func.func @forward(%{{[^:]*}}: !dovetail.ref<{{[^%]*}}>>, %{{[^:]*}}: !dovetail.ref{{.*}} {dovetail.stays}) ->
  func.func @forward(%x: !r {dovetail.stays}, %w: !r) -> (!r, !m {dovetail.checked_for = array<i64: 0>, dovetail.in_argument = 0 : i64, dovetail.saved = "checked"}, !m {dovetail.checked_for = array<i64: 0>, dovetail.in_argument = 1 : i64, dovetail.saved = "checked"}, !m {dovetail.saved = "private"}, !m {dovetail.checked_for = array<i64: 0>, dovetail.result = 0 : i64, dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = "dovetail.read"(%w) : (!r) -> !m
    %2 = torch.operator "torch.aten.mul.Tensor"(%0, %1) {dovetail.reason = "a test"} : (!m, !m) -> !m
    %3 = torch.operator "torch.aten.exp"(%2) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%3) {requires_grad = true} : (!m) -> !r
    return %o, %0, %1, %2, %3 : !r, !m, !m, !m, !m
  }

  // COM: The input moves as it did for the forward, the weight stays; what the forward made stays. The tangent moves.
  // CHECK: func.func @backward(
  // CHECK-SAME: !torch.vtensor<[4],f32> {dovetail.uses = array<i64: 0>}, %{{[^:]*}}: !torch.vtensor<[4],f32> {dovetail.stays, dovetail.uses
  // CHECK-SAME: !torch.vtensor<[4],f32> {dovetail.stays, dovetail.uses = array<i64: 0>}, %{{[^:]*}}: !torch.vtensor<[4],f32> {dovetail.stays, dovetail.uses
  // CHECK-SAME: {dovetail.tangent_of = 0 : i64})
  func.func @backward(%a: !m {dovetail.uses = array<i64: 0>}, %b: !m {dovetail.uses = array<i64: 0>}, %c: !m {dovetail.uses = array<i64: 0>}, %d: !m {dovetail.uses = array<i64: 0>}, %t: !r {dovetail.tangent_of = 0 : i64}) -> (!m, !m) attributes {dovetail.role = "backward"} {
    %0 = "dovetail.read"(%t) : (!r) -> !m
    %1 = torch.operator "torch.aten.mul.Tensor"(%0, %d) {dovetail.reason = "a test"} : (!m, !m) -> !m
    %2 = torch.operator "torch.aten.mul.Tensor"(%1, %b) {dovetail.reason = "a test"} : (!m, !m) -> !m
    %3 = torch.operator "torch.aten.mul.Tensor"(%1, %a) {dovetail.reason = "a test"} : (!m, !m) -> !m
    return %2, %3 : !m, !m
  }
}

// -----

// COM: An update in place is of the user's memory, not of a copy.
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  // CHECK: func.func @forward(%{{[^:]*}}: !dovetail.ref{{.*}} {dovetail.stays}, %{{[^:]*}}: !dovetail.ref{{[^{}]*}}) ->
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%y) : (!r) -> !v
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%0, %d) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %d : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    return
  }
}

// -----

// COM: The size is a number of the call's; how many indices there are, only the values tell.
!v = !torch.vtensor<[?],f32>
!i = !torch.vtensor<[?,1],si64>
!n = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!ri = !dovetail.ref<!i, strided<[1, 1]>>
#s = affine_map<()[s0] -> (s0)>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> !ri attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %x) : (!torch.int, !r) -> !ri
    return %0 : !ri
  }
  // CHECK: func.func @forward(
  func.func @forward(%n: !torch.int {dovetail.range = array<i64: 2, 100>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}) -> !ri attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %one = torch.constant.float 1.0
    // CHECK: %[[CPU:.*]] = torch.constant.device "cpu"
    %cpu = torch.constant.device "cpu"
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // CHECK: "torch.aten.sin"(%{{.*}}) {dovetail.reason = "a test", dovetail.sizes = [{{.*}}]}
    %1 = torch.operator "torch.aten.sin"(%0) {dovetail.reason = "a test", dovetail.sizes = [#s]} : (!v) -> !v
    // COM: A number is a parameter of the kernel that takes it.
    // CHECK: "torch.aten.scalar_tensor"({{.*}}) {dovetail.reason = "a test"}
    %2 = torch.operator "torch.aten.scalar_tensor"(%one, %none, %none, %cpu, %none) {dovetail.reason = "a test"} : (!torch.float, !torch.none, !torch.none, !torch.Device, !torch.none) -> !n
    %3 = torch.operator "torch.aten.mul.Tensor"(%1, %2) {dovetail.reason = "a test", dovetail.sizes = [#s]} : (!v, !n) -> !v
    // CHECK: "torch.aten.arange"({{.*}}) {dovetail.not_recordable = "aten.arange.default makes a tensor on the CPU", dovetail.reason = "a test"
    %4 = torch.operator "torch.aten.arange"(%n, %none, %none, %cpu, %none) {dovetail.reason = "a test", dovetail.sizes = [#s]} : (!torch.int, !torch.none, !torch.none, !torch.Device, !torch.none) -> !torch.vtensor<[?],si64>
    // CHECK: "torch.aten.nonzero"(%{{.*}}) {dovetail.not_recordable = "the host waits for the values of aten.nonzero.default", dovetail.reason = "a test"}
    %5 = torch.operator "torch.aten.nonzero"(%3) {dovetail.reason = "a test"} : (!v) -> !i
    %o = "dovetail.own"(%5) {requires_grad = false} : (!i) -> !ri
    return %o : !ri
  }
}

// -----

// COM: On the CPU nothing is recorded.
!m = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!m, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r {dovetail.static}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // CHECK: func.func @forward(
  // CHECK-NOT: dovetail.stays
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !m
    %1 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "a test"} : (!m) -> !m
    %o = "dovetail.own"(%1) {requires_grad = false} : (!m) -> !r
    return %o : !r
  }
}

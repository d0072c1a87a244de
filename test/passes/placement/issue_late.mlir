// RUN: dovetail-opt %s --pass-pipeline='issue-late,verify-level{level=program}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=issue-late --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline=issue-late | FileCheck %s --check-prefix=UNMOVED
//
// Catches a GPU that waits for its first product while the host issues masks that only a later op takes; what is moved
// across an op that keeps its order, or takes what is large, or a part of that, whose memory would live longer; and a
// CPU, whose host computes them itself, of another order.

!w = !torch.vtensor<[1024,1024],f32>
!ww = !torch.vtensor<[2048,1024],f32>
!x = !torch.vtensor<[?,1024],f32>
!m = !torch.vtensor<[1024],f32>
!rw = !dovetail.ref<!w, strided<[1024, 1]>>
!rx = !dovetail.ref<!x, strided<[1024, 1]>>
!rm = !dovetail.ref<!m, strided<[1]>>

module attributes {dovetail.level = "program", dovetail.target = "cuda:sm_90"} {
  func.func @call(%w: !rw, %x: !rx, %m: !rm) -> !rx attributes {dovetail.role = "call"} {
    %0 = call @forward(%w, %x, %m) : (!rw, !rx, !rm) -> !rx
    return %0 : !rx
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[LARGE:.*]] = torch.operator "torch.aten.exp"
  // CHECK-NEXT: %[[START:.*]] = torch.aten.select.int %[[LARGE]]
  // CHECK-NEXT: %[[TOLD:.*]] = torch.operator "torch.aten.add.Tensor"(%[[START]],
  // CHECK-NEXT: %[[TURNED:.*]] = torch.aten.t
  // CHECK-NEXT: %[[PRODUCT:.*]] = torch.operator "torch.aten.mm"(%{{.*}}, %[[TURNED]])
  // CHECK-NEXT: %[[SUMS:.*]] = torch.operator "torch.aten.cumsum"
  // CHECK-NEXT: %[[SHIFTED:.*]] = torch.operator "torch.aten.add.Tensor"(%[[SUMS]],
  // CHECK-NEXT: %[[LATE:.*]] = call @forward_region_0(
  // CHECK-NEXT: %[[BOTH:.*]] = torch.prim.ListConstruct
  // CHECK-NEXT: %[[JOINED:.*]] = torch.operator "torch.aten.cat"(%[[BOTH]],
  // CHECK-NEXT: torch.operator "torch.aten.rand_like"(%[[SHIFTED]],
  // CHECK: %[[DOUBLED:.*]] = torch.operator "torch.aten.add.Tensor"(%[[LARGE]], %[[LARGE]],
  // CHECK-NEXT: torch.operator "torch.aten.mm"(%{{.*}}, %[[DOUBLED]])
  // CHECK-NEXT: torch.operator "torch.aten.mm"(%[[JOINED]], %[[DOUBLED]])
  // CHECK-NEXT: call @forward_region_1({{.*}}, %[[LATE]], %[[TOLD]])
  // UNMOVED-LABEL: func.func @forward(
  // UNMOVED: torch.operator "torch.aten.cumsum"
  // UNMOVED: torch.operator "torch.aten.mm"
  func.func @forward(%w: !rw, %x: !rx, %m: !rm) -> !rx attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%w) : (!rw) -> !w
    %1 = "dovetail.read"(%x) : (!rx) -> !x
    %2 = "dovetail.read"(%m) : (!rm) -> !m
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %none = torch.constant.none
    %both = torch.prim.ListConstruct %0, %0 : (!w, !w) -> !torch.list<vtensor>
    %joined = torch.operator "torch.aten.cat"(%both, %zero) {dovetail.reason = "large"} : (!torch.list<vtensor>, !torch.int) -> !ww
    %late = call @forward_region_0(%2) : (!m) -> !m
    %turned = torch.aten.t %0 : !w -> !w
    %sums = torch.operator "torch.aten.cumsum"(%2, %zero, %none) {dovetail.reason = "library"} : (!m, !torch.int, !torch.none) -> !m
    %shifted = torch.operator "torch.aten.add.Tensor"(%sums, %2, %one) {dovetail.reason = "small"} : (!m, !m, !torch.int) -> !m
    %large = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "small"} : (!w) -> !w
    %start = torch.aten.select.int %large, %zero, %zero : !w, !torch.int, !torch.int -> !m
    %told = torch.operator "torch.aten.add.Tensor"(%start, %start, %one) {dovetail.reason = "small"} : (!m, !m, !torch.int) -> !m
    %product = torch.operator "torch.aten.mm"(%1, %turned) {dovetail.reason = "library"} : (!x, !w) -> !x
    %drawn = torch.operator "torch.aten.rand_like"(%shifted, %none, %none, %none, %none, %none) {dovetail.effect = "draws", dovetail.reason = "random", dovetail.strides = [array<i64: 1>, unit, unit, unit, unit, unit]} : (!m, !torch.none, !torch.none, !torch.none, !torch.none, !torch.none) -> !m
    %doubled = torch.operator "torch.aten.add.Tensor"(%large, %large, %one) {dovetail.reason = "small"} : (!w, !w, !torch.int) -> !w
    %again = torch.operator "torch.aten.mm"(%product, %doubled) {dovetail.reason = "library"} : (!x, !w) -> !x
    %wide = torch.operator "torch.aten.mm"(%joined, %doubled) {dovetail.reason = "library"} : (!ww, !w) -> !ww
    %masked = call @forward_region_1(%again, %drawn, %late, %told) : (!x, !m, !m, !m) -> !x
    %3 = "dovetail.own"(%masked) {requires_grad = false} : (!x) -> !rx
    return %3 : !rx
  }
  func.func private @forward_region_0(%m: !m) -> !m attributes {dovetail.role = "region"} {
    %0 = torch.aten.neg %m : !m -> !m
    return %0 : !m
  }
  func.func private @forward_region_1(%x: !x, %m: !m, %n: !m, %o: !m) -> !x attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %m : !x, !m -> !x
    %1 = torch.aten.mul.Tensor %0, %n : !x, !m -> !x
    %2 = torch.aten.mul.Tensor %1, %o : !x, !m -> !x
    return %2 : !x
  }
}

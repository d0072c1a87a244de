// RUN: dovetail-opt %s --pass-pipeline='inline-regions{regions=forward_region_0 reason=crashed}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='inline-regions{regions=forward_region_0 reason=crashed},choose-drivers,verify-level{level=regions}' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='inline-regions{regions=forward_region_0+forward_region_1 reason="took 3 s, too long (killed)"}' | FileCheck %s --check-prefix=BOTH
// RUN: dovetail-opt %s --pass-pipeline=inline-regions | FileCheck %s --check-prefix=NONE
// RUN: not dovetail-opt %s --pass-pipeline='inline-regions{regions=backward_region_0}' 2>&1 | FileCheck %s --check-prefix=MISSING
//
// Catches a failed region that is not replaced wholly (its memory, its calls), a region that is replaced though it
// compiled, and a reason that is lost on the way to `dovetail.stats()`.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// MISSING: 'builtin.module' op has no region '@backward_region_0', it has @forward_region_0, @forward_region_1
// BOTH-NOT: _region_
// BOTH-COUNT-3: {dovetail.fallback, dovetail.reason = "took 3 s, too long (killed)"}
// BOTH-NOT: dovetail.alloc
// NONE: call @forward_region_0
// NONE: call @forward_region_1
// NONE-NOT: fallback
!m = !torch.tensor<[4],f32>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-NEXT: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[EXP:.*]] = torch.operator "torch.aten.exp"(%[[X]]) {dovetail.fallback, dovetail.reason = "crashed"}
  // CHECK: %[[SUM:.*]] = torch.operator "torch.aten.add.Tensor"(%[[EXP]], %[[X]], %{{.*}}) {dovetail.fallback, dovetail.reason = "crashed"}
  // CHECK: %[[B:.*]] = "dovetail.alloc"
  // CHECK-NEXT: call @forward_region_1(%[[SUM]], %[[B]])
  // CHECK-NEXT: %[[R:.*]] = torch.copy.to_vtensor %[[B]]
  // CHECK-NEXT: "dovetail.own"(%[[R]])
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_1(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // CHECK-NOT: func.func private @forward_region_0
  // CHECK: func.func private @forward_region_1(
  // CHECK-NEXT: torch.aten.neg
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.add.Tensor %0, %x, %one : !v, !v, !torch.int -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.neg %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

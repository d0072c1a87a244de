// RUN: dovetail-opt %s --pass-pipeline='split-region{region=forward_region_0},choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='split-region{region=forward_region_0},choose-drivers,verify-level{level=regions}' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='split-region{region=forward_region_0},split-region{region=forward_region_0_0},inline-regions{regions=forward_region_0_0_0},choose-drivers,verify-level{level=regions}' --run-check -o %t
// RUN: not dovetail-opt %s --pass-pipeline='split-region{region=forward_region_1}' 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not dovetail-opt %s --pass-pipeline='split-region{region=backward_region_0}' 2>&1 | FileCheck %s --check-prefix=MISSING
//
// Catches a piece that lacks what it reads (a view, a constant, a value of the other piece), a store that is lost or in the
// piece that can't compute it, a second piece that runs first, and a change of regions that nobody asked to split.

!v = !torch.vtensor<[2,3],f32>
!w = !torch.vtensor<[3,2],f32>
!r = !dovetail.ref<!v, strided<[3, 1]>>
!s = !dovetail.ref<!w, strided<[2, 1]>>
!m = !torch.tensor<[2,3],f32>
!n = !torch.tensor<[3,2],f32>

// ONE: pass 'split-region{{.*}}' failed: {{.*}}'func.func' op '@forward_region_1' can't be split: it is one piece of work
// MISSING: pass 'split-region{{.*}}' failed: {{.*}}'builtin.module' op has no region '@backward_region_0', it has @forward_region_0, @forward_region_1
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> (!r, !s, !s) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x) : (!r) -> (!r, !s, !s)
    return %0#0, %0#1, %0#2 : !r, !s, !s
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK-NEXT: %[[A:.*]] = "dovetail.alloc"
  // CHECK-NEXT: %[[B:.*]] = "dovetail.alloc"
  // CHECK-NEXT: %[[C:.*]] = "dovetail.alloc"
  // COM: What crosses is computed by the first piece; of the four ops the first two.
  // CHECK-NEXT: %[[M:.*]] = "dovetail.alloc"
  // CHECK-NEXT: call @forward_region_0_0(%[[X]], %[[A]], %[[C]], %[[M]])
  // CHECK-NEXT: %[[V:.*]] = torch.copy.to_vtensor %[[M]]
  // CHECK-NEXT: call @forward_region_0_1(%[[V]], %[[X]], %[[B]])
  // CHECK: call @forward_region_1(
  func.func @forward(%x: !r) -> (!r, !s, !s) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !n
    %c = "dovetail.alloc"() : () -> !n
    call @forward_region_0(%0, %a, %b, %c) : (!v, !m, !n, !n) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.copy.to_vtensor %b : !w
    %3 = torch.copy.to_vtensor %c : !w
    %d = "dovetail.alloc"() : () -> !n
    call @forward_region_1(%2, %d) : (!w, !n) -> ()
    %4 = torch.copy.to_vtensor %d : !w
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%4) {requires_grad = false} : (!w) -> !s
    %q = "dovetail.own"(%3) {requires_grad = false} : (!w) -> !s
    return %o, %p, %q : !r, !s, !s
  }
  // CHECK-NOT: func.func private @forward_region_0(
  // CHECK-LABEL: func.func private @forward_region_0_0(
  // CHECK-SAME: %[[X0:.*]]: !torch.vtensor<[2,3],f32>, %[[A0:.*]]: !torch.tensor<[2,3],f32>, %[[C0:.*]]: !torch.tensor<[3,2],f32>, %[[M0:.*]]: !torch.tensor<[2,3],f32>) attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  // CHECK: %[[EXP:.*]] = torch.aten.exp %[[X0]]
  // CHECK-NEXT: %[[NEG:.*]] = torch.aten.neg %[[EXP]]
  // COM: A view of an argument is stored by whoever; here the first piece.
  // CHECK: %[[XT:.*]] = torch.aten.transpose.int %[[X0]]
  // CHECK-NOT: torch.aten.transpose.int
  // CHECK: torch.overwrite.tensor.contents %[[EXP]] overwrites %[[A0]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[XT]] overwrites %[[C0]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[NEG]] overwrites %[[M0]]
  // CHECK-NEXT: return
  // CHECK-LABEL: func.func private @forward_region_0_1(
  // CHECK-SAME: %[[V1:.*]]: !torch.vtensor<[2,3],f32>, %[[X1:.*]]: !torch.vtensor<[2,3],f32>, %[[B1:.*]]: !torch.tensor<[3,2],f32>)
  // CHECK-NOT: torch.aten.exp
  // CHECK: %[[VT:.*]] = torch.aten.transpose.int %[[V1]]
  // CHECK: torch.aten.relu %[[VT]]
  // CHECK: torch.aten.mul.Tensor
  // CHECK: torch.overwrite.tensor.contents %{{.*}} overwrites %[[B1]]
  // CHECK-NEXT: return
  // CHECK-LABEL: func.func private @forward_region_1(
  func.func private @forward_region_0(%x: !v, %a: !m, %b: !n, %c: !n) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.neg %0 : !v -> !v
    %2 = torch.aten.transpose.int %1, %zero, %one : !v, !torch.int, !torch.int -> !w
    %3 = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !w
    %4 = torch.aten.relu %2 : !w -> !w
    %5 = torch.aten.mul.Tensor %4, %3 : !w, !w -> !w
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %5 overwrites %b : !w, !n
    torch.overwrite.tensor.contents %3 overwrites %c : !w, !n
    return
  }
  func.func private @forward_region_1(%x: !w, %a: !n) attributes {dovetail.role = "region"} {
    %0 = torch.aten.neg %x : !w -> !w
    torch.overwrite.tensor.contents %0 overwrites %a : !w, !n
    return
  }
}

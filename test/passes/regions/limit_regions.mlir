// RUN: dovetail-opt %s --pass-pipeline='limit-regions,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=limit-regions --run-check -o %t
//
// Catches a region with more dependent reductions than IREE compiles in reasonable time, a cut in the wrong place (8 of
// them are allowed, here are 10), and a split of reductions that don't depend on each other.

!v = !torch.vtensor<[2,3],f32>
!s = !torch.vtensor<[2,1],f32>
!r = !dovetail.ref<!v, strided<[3, 1]>>
!m = !torch.tensor<[2,3],f32>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    return %0#0, %0#1 : !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: call @forward_region_0_0(%[[X:[0-9]+]], %[[M:[0-9]+]])
  // CHECK-NEXT: %[[V:.*]] = torch.copy.to_vtensor %[[M]]
  // CHECK-NEXT: call @forward_region_0_1(%[[V]], %{{.*}})
  // CHECK: call @forward_region_1(%[[X]], %{{.*}})
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_1(%0, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  // CHECK-LABEL: func.func private @forward_region_0_0(
  // CHECK-COUNT-8: torch.aten.amax
  // CHECK-NOT: torch.aten.amax
  // CHECK-LABEL: func.func private @forward_region_0_1(
  // CHECK-COUNT-2: torch.aten.amax
  // CHECK-NOT: torch.aten.amax
  // CHECK-LABEL: func.func private @forward_region_1(
  // CHECK-COUNT-10: torch.aten.amax
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %r0 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v0 = torch.aten.mul.Tensor %x, %r0 : !v, !s -> !v
    %r1 = torch.aten.amax %v0, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v1 = torch.aten.mul.Tensor %v0, %r1 : !v, !s -> !v
    %r2 = torch.aten.amax %v1, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v2 = torch.aten.mul.Tensor %v1, %r2 : !v, !s -> !v
    %r3 = torch.aten.amax %v2, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v3 = torch.aten.mul.Tensor %v2, %r3 : !v, !s -> !v
    %r4 = torch.aten.amax %v3, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v4 = torch.aten.mul.Tensor %v3, %r4 : !v, !s -> !v
    %r5 = torch.aten.amax %v4, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v5 = torch.aten.mul.Tensor %v4, %r5 : !v, !s -> !v
    %r6 = torch.aten.amax %v5, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v6 = torch.aten.mul.Tensor %v5, %r6 : !v, !s -> !v
    %r7 = torch.aten.amax %v6, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v7 = torch.aten.mul.Tensor %v6, %r7 : !v, !s -> !v
    %r8 = torch.aten.amax %v7, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v8 = torch.aten.mul.Tensor %v7, %r8 : !v, !s -> !v
    %r9 = torch.aten.amax %v8, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v9 = torch.aten.mul.Tensor %v8, %r9 : !v, !s -> !v
    torch.overwrite.tensor.contents %v9 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %r0 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v0 = torch.aten.mul.Tensor %x, %r0 : !v, !s -> !v
    %r1 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v1 = torch.aten.mul.Tensor %v0, %r1 : !v, !s -> !v
    %r2 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v2 = torch.aten.mul.Tensor %v1, %r2 : !v, !s -> !v
    %r3 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v3 = torch.aten.mul.Tensor %v2, %r3 : !v, !s -> !v
    %r4 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v4 = torch.aten.mul.Tensor %v3, %r4 : !v, !s -> !v
    %r5 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v5 = torch.aten.mul.Tensor %v4, %r5 : !v, !s -> !v
    %r6 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v6 = torch.aten.mul.Tensor %v5, %r6 : !v, !s -> !v
    %r7 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v7 = torch.aten.mul.Tensor %v6, %r7 : !v, !s -> !v
    %r8 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v8 = torch.aten.mul.Tensor %v7, %r8 : !v, !s -> !v
    %r9 = torch.aten.amax %x, %dims, %true : !v, !torch.list<int>, !torch.bool -> !s
    %v9 = torch.aten.mul.Tensor %v8, %r9 : !v, !s -> !v
    torch.overwrite.tensor.contents %v9 overwrites %a : !v, !m
    return
  }
}

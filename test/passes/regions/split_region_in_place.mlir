// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,split-region{region=forward_update_0},choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,split-region{region=forward_update_0},inline-regions{regions=forward_update_0_1},choose-drivers,verify-level{level=regions}' --run-check -o %t
// RUN: not dovetail-opt %s --pass-pipeline='prove-in-place,split-region{region=forward_update_0},split-region{region=forward_update_0_0}' 2>&1 | FileCheck %s --check-prefix=ONE
//
// Catches a second piece that reads an argument which the first piece has overwritten, or that allocates, and so may fail,
// after it: updates are split by what they store, and both pieces compute what both need.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>

// ONE: '@forward_update_0_0' can't be split: it is one piece of work
module attributes {dovetail.level = "regions"} {
  func.func @call(%p: !r, %q: !r, %g: !r) attributes {dovetail.role = "call"} {
    call @guard(%p, %q, %g) : (!r, !r, !r) -> ()
    %0:2 = call @forward(%p, %q, %g) : (!r, !r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %p) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %q) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r {dovetail.name = "q"}, !r {dovetail.name = "g"})
      attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[P:.*]] = "dovetail.destination"(%{{.*}}) {proof = "pointwise"}
  // CHECK: %[[Q:.*]] = "dovetail.destination"(%{{.*}}) {proof = "pointwise"}
  // CHECK-NEXT: call @forward_update_0_0(%[[G:.*]], %[[P]])
  // CHECK-NEXT: call @forward_update_0_1(%[[G]], %[[Q]])
  // CHECK-NOT: dovetail.alloc
  func.func @forward(%p: !r, %q: !r, %g: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%q) : (!r) -> !v
    %2 = "dovetail.read"(%g) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %2, %a, %b) : (!v, !v, !v, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %u = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %u : !r, !r
  }
  // COM: Both need the scaled gradient.
  // CHECK-LABEL: func.func private @forward_update_0_0(
  // CHECK: torch.aten.mul.Scalar
  // CHECK-LABEL: func.func private @forward_update_0_1(
  // CHECK: torch.aten.mul.Scalar
  func.func private @forward_region_0(%p: !v, %q: !v, %g: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %half = torch.constant.float 0.5
    %one = torch.constant.int 1
    %0 = torch.aten.mul.Scalar %g, %half : !v, !torch.float -> !v
    %1 = torch.aten.add.Tensor %p, %0, %one : !v, !v, !torch.int -> !v
    %2 = torch.aten.add.Tensor %q, %0, %one : !v, !v, !torch.int -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %b : !v, !m
    return
  }
}

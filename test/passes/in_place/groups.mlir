// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t
// RUN: sed 's/^module attributes {/&dovetail.target = "cuda:sm_90", /' %s | dovetail-opt - --pass-pipeline='prove-in-place,choose-drivers,state-recordable,verify-level{level=regions}' | FileCheck %s --check-prefix=GPU
//
// Catches an optimizer that updates all moments before the first parameter, which reads its own when they are far away,
// and whose one region of all parameters is compiled as long as their number squared. On a GPU nothing stays near, and a call
// of a region for each parameter takes longer than its kernel.

!v = !torch.vtensor<[200000],f32>
!m = !torch.tensor<[200000],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%p0: !r, %m0: !r, %p1: !r, %m1: !r, %g: !r) attributes {dovetail.role = "call"} {
    call @guard(%p0, %m0, %p1, %m1, %g) : (!r, !r, !r, !r, !r) -> ()
    %0:4 = call @forward(%p0, %m0, %p1, %m1, %g) : (!r, !r, !r, !r, !r) -> (!r, !r, !r, !r)
    "dovetail.write"(%0#0, %p0) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %m0) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#2, %p1) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#3, %m1) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p0"}, !r {dovetail.name = "m0"}, !r {dovetail.name = "p1"}, !r {dovetail.name = "m1"}, !r {dovetail.name = "g"})
      attributes {dovetail.mutated = 4 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[P0:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[M0:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[P1:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[M1:[a-z0-9]+]]: !dovetail.ref
  // CHECK-DAG: %[[INTO_P0:.*]] = "dovetail.destination"(%[[P0]])
  // CHECK-DAG: %[[INTO_M0:.*]] = "dovetail.destination"(%[[M0]])
  // CHECK-DAG: %[[INTO_P1:.*]] = "dovetail.destination"(%[[P1]])
  // CHECK-DAG: %[[INTO_M1:.*]] = "dovetail.destination"(%[[M1]])
  // CHECK: call @forward_update_0(%[[G:.*]], %[[INTO_M0]], %[[INTO_P0]])
  // CHECK: call @forward_update_1(%[[G]], %[[INTO_M1]], %[[INTO_P1]])
  // GPU-LABEL: func.func @forward(
  // GPU: call @forward_update_0(
  // GPU-NOT: call @forward_update_1
  func.func @forward(%p0: !r, %m0: !r, %p1: !r, %m1: !r, %g: !r) -> (!r, !r, !r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p0) : (!r) -> !v
    %1 = "dovetail.read"(%m0) : (!r) -> !v
    %2 = "dovetail.read"(%p1) : (!r) -> !v
    %3 = "dovetail.read"(%m1) : (!r) -> !v
    %4 = "dovetail.read"(%g) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"() : () -> !m
    %d = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %2, %3, %4, %a, %b, %c, %d) : (!v, !v, !v, !v, !v, !m, !m, !m, !m) -> ()
    %5 = torch.copy.to_vtensor %a : !v
    %6 = torch.copy.to_vtensor %b : !v
    %7 = torch.copy.to_vtensor %c : !v
    %8 = torch.copy.to_vtensor %d : !v
    %o = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    %t = "dovetail.own"(%8) {requires_grad = false} : (!v) -> !r
    return %o, %q, %s, %t : !r, !r, !r, !r
  }
  func.func private @forward_region_0(%p0: !v, %m0: !v, %p1: !v, %m1: !v, %g: !v, %a: !m, %b: !m, %c: !m, %d: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %m0, %g, %one : !v, !v, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %p0, %0 : !v, !v -> !v
    %2 = torch.aten.add.Tensor %m1, %g, %one : !v, !v, !torch.int -> !v
    %3 = torch.aten.mul.Tensor %p1, %2 : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %0 overwrites %b : !v, !m
    torch.overwrite.tensor.contents %3 overwrites %c : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %d : !v, !m
    return
  }
}

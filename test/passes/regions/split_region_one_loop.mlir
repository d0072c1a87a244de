// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,split-region{region=forward_update_0},choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,split-region{region=forward_update_0}' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,split-region{region=forward_update_0},inline-regions{regions=forward_update_0_1},choose-drivers,verify-level{level=regions}' --run-check -o %t
//
// Catches a second piece that computes the new momentum anew, from the old one that the first piece has overwritten.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%p: !r, %m: !r, %e: !r, %g: !r) attributes {dovetail.role = "call"} {
    call @guard(%p, %m, %e, %g) : (!r, !r, !r, !r) -> ()
    %0:3 = call @forward(%p, %m, %e, %g) : (!r, !r, !r, !r) -> (!r, !r, !r)
    "dovetail.write"(%0#0, %p) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %m) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#2, %e) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r {dovetail.name = "m"}, !r {dovetail.name = "e"}, !r {dovetail.name = "g"})
      attributes {dovetail.mutated = 3 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[M:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[E:[a-z0-9]+]]: !dovetail.ref
  // CHECK-DAG: %[[INTO_P:.*]] = "dovetail.destination"(%[[P]])
  // CHECK-DAG: %[[INTO_M:.*]] = "dovetail.destination"(%[[M]])
  // CHECK-DAG: %[[INTO_E:.*]] = "dovetail.destination"(%[[E]])
  // CHECK: call @forward_update_0_0(%{{.*}}, %[[INTO_M]])
  // CHECK-NEXT: %[[NEW:.*]] = torch.copy.to_vtensor %[[INTO_M]]
  // CHECK-NEXT: call @forward_update_0_1(%[[NEW]], %[[INTO_P]], %[[INTO_E]])
  func.func @forward(%p: !r, %m: !r, %e: !r, %g: !r) -> (!r, !r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%m) : (!r) -> !v
    %2 = "dovetail.read"(%e) : (!r) -> !v
    %3 = "dovetail.read"(%g) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %2, %3, %a, %b, %c) : (!v, !v, !v, !v, !m, !m, !m) -> ()
    %4 = torch.copy.to_vtensor %a : !v
    %5 = torch.copy.to_vtensor %b : !v
    %6 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    return %o, %q, %s : !r, !r, !r
  }
  // CHECK-LABEL: func.func private @forward_update_0_0(
  // CHECK-COUNT-1: torch.copy.to_vtensor
  // CHECK-COUNT-1: torch.overwrite.tensor.contents
  // CHECK-LABEL: func.func private @forward_update_0_1(
  // CHECK-COUNT-2: torch.copy.to_vtensor
  // CHECK-NOT: torch.copy.to_vtensor
  // CHECK-COUNT-2: torch.overwrite.tensor.contents
  func.func private @forward_region_0(%p: !v, %m: !v, %e: !v, %g: !v, %a: !m, %b: !m, %c: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %m, %g, %one : !v, !v, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %p, %0 : !v, !v -> !v
    %2 = torch.aten.add.Tensor %e, %1, %one : !v, !v, !torch.int -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %0 overwrites %b : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %c : !v, !m
    return
  }
}

// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,verify-level{level=regions}' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t --split-input-file
//
// Catches updates that share a region though one loop can't make them: a count of steps that a moment is divided by, a
// parameter whose old value the average of it reads, also where the parameter is computed from that.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!v0 = !torch.vtensor<[],f32>
!m0 = !torch.tensor<[],f32>
!r0 = !dovetail.ref<!v0, strided<[]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%p: !r, %m: !r, %n: !r0) attributes {dovetail.role = "call"} {
    call @guard(%p, %m, %n) : (!r, !r, !r0) -> ()
    %0:3 = call @forward(%p, %m, %n) : (!r, !r, !r0) -> (!r, !r, !r0)
    "dovetail.write"(%0#0, %p) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %m) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#2, %n) {mode = "no_grad"} : (!r0, !r0) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r {dovetail.name = "m"}, !r0 {dovetail.name = "n"})
      attributes {dovetail.mutated = 3 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[M:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[N:[a-z0-9]+]]: !dovetail.ref
  // CHECK-DAG: %[[INTO_P:.*]] = "dovetail.destination"(%[[P]])
  // CHECK-DAG: %[[INTO_M:.*]] = "dovetail.destination"(%[[M]])
  // CHECK-DAG: %[[INTO_N:.*]] = "dovetail.destination"(%[[N]])
  // CHECK: call @forward_update_0(%[[INTO_N]])
  // CHECK-NEXT: %[[COUNT:.*]] = torch.copy.to_vtensor %[[INTO_N]]
  // CHECK-NEXT: call @forward_update_1(%[[COUNT]], %[[INTO_M]], %[[INTO_P]])
  func.func @forward(%p: !r, %m: !r, %n: !r0) -> (!r, !r, !r0) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%m) : (!r) -> !v
    %2 = "dovetail.read"(%n) : (!r0) -> !v0
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"() : () -> !m0
    call @forward_region_0(%0, %1, %2, %a, %b, %c) : (!v, !v, !v0, !m, !m, !m0) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %5 = torch.copy.to_vtensor %c : !v0
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%5) {requires_grad = false} : (!v0) -> !r0
    return %o, %q, %s : !r, !r, !r0
  }
  func.func private @forward_region_0(%p: !v, %m: !v, %n: !v0, %a: !m, %b: !m, %c: !m0) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Scalar %n, %one, %one : !v0, !torch.int, !torch.int -> !v0
    %1 = torch.aten.div.Tensor %m, %0 : !v, !v0 -> !v
    %2 = torch.aten.add.Tensor %p, %1, %one : !v, !v, !torch.int -> !v
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    torch.overwrite.tensor.contents %0 overwrites %c : !v0, !m0
    return
  }
}

// -----

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%p: !r, %m: !r) attributes {dovetail.role = "call"} {
    call @guard(%p, %m) : (!r, !r) -> ()
    %0:2 = call @forward(%p, %m) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %p) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %m) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r {dovetail.name = "m"})
      attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[M:[a-z0-9]+]]: !dovetail.ref
  // CHECK-DAG: %[[INTO_P:.*]] = "dovetail.destination"(%[[P]])
  // CHECK-DAG: %[[INTO_M:.*]] = "dovetail.destination"(%[[M]])
  // CHECK: call @forward_update_0(%{{.*}}, %[[INTO_M]])
  // CHECK: call @forward_update_1(%[[INTO_P]])
  func.func @forward(%p: !r, %m: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%m) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a, %b) : (!v, !v, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %q : !r, !r
  }
  func.func private @forward_region_0(%p: !v, %m: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %m, %p, %one : !v, !v, !torch.int -> !v
    %1 = torch.aten.exp %p : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %0 overwrites %b : !v, !m
    return
  }
}

// -----

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%p: !r, %m: !r) attributes {dovetail.role = "call"} {
    call @guard(%p, %m) : (!r, !r) -> ()
    %0:2 = call @forward(%p, %m) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %p) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %m) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r {dovetail.name = "m"})
      attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !dovetail.ref{{[^%]*}}, %[[M:[a-z0-9]+]]: !dovetail.ref
  // CHECK-DAG: %[[INTO_P:.*]] = "dovetail.destination"(%[[P]])
  // CHECK-DAG: %[[INTO_M:.*]] = "dovetail.destination"(%[[M]])
  // CHECK: call @forward_update_0(%{{.*}}, %[[INTO_M]])
  // CHECK: call @forward_update_1(%{{.*}}, %[[INTO_P]])
  func.func @forward(%p: !r, %m: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%m) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a, %b) : (!v, !v, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %q : !r, !r
  }
  func.func private @forward_region_0(%p: !v, %m: !v, %a: !m, %b: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %m, %p, %one : !v, !v, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %p, %0 : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %0 overwrites %b : !v, !m
    return
  }
}

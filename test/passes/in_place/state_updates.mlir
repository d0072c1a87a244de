// RUN: dovetail-opt %s --pass-pipeline='state-updates,choose-drivers,verify-level{level=regions}' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=state-updates --split-input-file --run-check -o %t
// RUN: sed 's/dovetail.role = "call"/dovetail.only_updates, dovetail.role = "call"/' %s | dovetail-opt --pass-pipeline='state-updates' --split-input-file | FileCheck %s
// RUN: sed 's/dovetail.role = "call"/dovetail.only_updates, dovetail.role = "call"/' %s | not dovetail-opt --pass-pipeline='choose-drivers,verify-level{level=regions}' --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG
//
// Catches a program that is run as if it only updated arguments, though its results, memory of its own, a kernel on the
// host or an argument that no region looks at are forgotten then; and one that says so still after a pass changed that.

// CHECK: @call(%{{.*}}, %{{.*}}) attributes {dovetail.only_updates, dovetail.role = "call"}
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
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

// What is returned is more than an update, and lies in memory of its own.
// CHECK: @call(%{{.*}}) -> {{.*}} attributes {dovetail.role = "call"}
// WRONG: 'func.func' op expects nothing but a guard, regions that update arguments, and writes in place, as 'dovetail.only_updates' says
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return %0#1 : !r
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%0, %d, %a) : (!v, !m, !m) -> ()
    %1 = torch.copy.to_vtensor %d : !v
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @forward_update_0(%y: !v, %d: !m, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    %2 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
}

// -----

// No region looks at `y`, so nobody would know how it lies.
// CHECK: @call(%{{.*}}) attributes {dovetail.role = "call"}
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%d) : (!m) -> ()
    %1 = torch.copy.to_vtensor %d : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_update_0(%d: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.exp %0 : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    return
  }
}

// -----

// A library call in between runs on the host.
// CHECK: @call(%{{.*}}) attributes {dovetail.role = "call"}
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%y) : (!r) -> !v
    %e = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "ATen's is faster"} : (!v) -> !v
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @forward_update_0(%e, %d) : (!v, !m) -> ()
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

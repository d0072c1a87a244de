// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,verify-level{level=regions}' --split-input-file | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --remarks -o %t --split-input-file 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t --split-input-file
//
// Catches an update that runs before somebody else has read the old value, or in one region with a reader of it: the
// parameter uses the new momentum as it is computed, not one that the region computes anew or reads again.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // CHECK-LABEL: func.func @call(
  // CHECK: "dovetail.write"(%{{.*}}#0, %{{.*}}) {dovetail.in_place = "pointwise", mode = "no_grad"}
  // CHECK: "dovetail.write"(%{{.*}}#1, %{{.*}}) {dovetail.in_place = "pointwise", mode = "no_grad"}
  // REMARK: remark: momentum is written in place: pointwise
  // REMARK: remark: %arg0 is written in place: pointwise
  func.func @call(%p: !r, %m: !r {dovetail.name = "momentum"}, %g: !r) -> !r attributes {dovetail.role = "call"} {
    call @guard(%p, %m, %g) : (!r, !r, !r) -> ()
    %0:3 = call @forward(%p, %m, %g) : (!r, !r, !r) -> (!r, !r, !r)
    "dovetail.write"(%0#0, %m) {mode = "no_grad"} : (!r, !r) -> ()
    "dovetail.write"(%0#1, %p) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#2 : !r
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r {dovetail.name = "m"}, !r {dovetail.name = "g"})
      attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[P:[a-z0-9]+]]: !dovetail.ref{{.*}}, %[[M:[a-z0-9]+]]: !dovetail.ref{{.*}}, %[[G:[a-z0-9]+]]: !dovetail.ref
  // CHECK: %[[OLD_P:.*]] = "dovetail.read"(%[[P]])
  // CHECK-NEXT: %[[GRADIENT:.*]] = "dovetail.read"(%[[G]])
  // CHECK-NEXT: %[[OUT:.*]] = "dovetail.alloc"
  // CHECK-NEXT: call @forward_region_0(%[[OLD_P]], %[[OUT]])
  // CHECK: %[[INTO_M:.*]] = "dovetail.destination"(%[[M]]) {proof = "pointwise"}
  // CHECK-NEXT: %[[INTO_P:.*]] = "dovetail.destination"(%[[P]]) {proof = "pointwise"}
  // CHECK-NEXT: call @forward_update_0(%[[GRADIENT]], %[[INTO_M]], %[[INTO_P]])
  // CHECK-NEXT: %[[NEW_M:.*]] = torch.copy.to_vtensor %[[INTO_M]]
  // CHECK-NEXT: %[[NEW_P:.*]] = torch.copy.to_vtensor %[[INTO_P]]
  // CHECK-NEXT: "dovetail.own"(%[[NEW_M]])
  // CHECK-NEXT: "dovetail.own"(%[[NEW_P]])
  // CHECK-NEXT: return
  func.func @forward(%p: !r, %m: !r, %g: !r) -> (!r, !r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%m) : (!r) -> !v
    %2 = "dovetail.read"(%g) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %2, %a, %b, %c) : (!v, !v, !v, !m, !m, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v
    %4 = torch.copy.to_vtensor %b : !v
    %5 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    return %o, %q, %s : !r, !r, !r
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-SAME: %[[A:[a-z0-9]+]]: !torch.vtensor<[5],f32>, %[[B:[a-z0-9]+]]: !torch.tensor<[5],f32>)
  // CHECK-NEXT: %[[EXP:.*]] = torch.aten.exp %[[A]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[EXP]] overwrites %[[B]]
  // CHECK-NEXT: return
  func.func private @forward_region_0(%p: !v, %m: !v, %g: !v, %a: !m, %b: !m, %c: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %m, %g, %one : !v, !v, !torch.int -> !v
    %1 = torch.aten.mul.Tensor %p, %0 : !v, !v -> !v
    %2 = torch.aten.exp %p : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %c : !v, !m
    return
  }
  // CHECK-LABEL: func.func private @forward_update_0(
  // CHECK-SAME: %[[A:[a-z0-9]+]]: !torch.vtensor<[5],f32>, %[[M:[a-z0-9]+]]: !torch.tensor<[5],f32>, %[[P:[a-z0-9]+]]: !torch.tensor<[5],f32>) attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  // CHECK-NEXT: %[[OLD_M:.*]] = torch.copy.to_vtensor %[[M]]
  // CHECK: %[[NEW_M:.*]] = torch.aten.add.Tensor %[[OLD_M]], %[[A]]
  // CHECK-NEXT: %[[OLD_P:.*]] = torch.copy.to_vtensor %[[P]]
  // CHECK-NEXT: %[[NEW_P:.*]] = torch.aten.mul.Tensor %[[OLD_P]], %[[NEW_M]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[NEW_M]] overwrites %[[M]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[NEW_P]] overwrites %[[P]]
  // CHECK-NEXT: return
}

// -----

// COM: Not pointwise are only the values that it starts from: those are computed before, to memory of their own.
!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // REMARK: remark: %arg0 is written in place: pointwise
  // CHECK-LABEL: func.func @call(
  func.func @call(%x: !r) attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    "dovetail.write"(%0, %x) {mode = "hidden"} : (!r, !r) -> ()
    return
  }
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK-NEXT: %[[FLIPPED:.*]] = "dovetail.alloc"
  // CHECK-NEXT: call @forward_region_0(%[[X]], %[[FLIPPED]])
  // CHECK-NEXT: %[[VALUE:.*]] = torch.copy.to_vtensor %[[FLIPPED]]
  // CHECK-NEXT: %[[INTO:.*]] = "dovetail.destination"
  // CHECK-NEXT: call @forward_update_0(%[[VALUE]], %[[INTO]])
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // CHECK: func.func private @forward_region_0(
  // CHECK: torch.aten.flip
  // CHECK-NEXT: torch.overwrite.tensor.contents
  // CHECK: func.func private @forward_update_0(
  // CHECK: torch.aten.mul.Tensor
  // CHECK-NEXT: torch.overwrite.tensor.contents
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.flip %x, %dims : !v, !torch.list<int> -> !v
    %1 = torch.aten.mul.Tensor %x, %0 : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %a : !v, !m
    return
  }
}

// -----

// COM: Memory that is not read may be overwritten as well; a region that has nothing else to do is gone.
!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "regions"} {
  // REMARK: remark: %arg0 is written in place: not read
  // CHECK-LABEL: func.func @call(
  func.func @call(%x: !r, %y: !r) attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = call @forward(%x, %y) : (!r, !r) -> !r
    "dovetail.write"(%0, %x) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  // CHECK: %[[Y:.*]] = "dovetail.read"
  // CHECK-NEXT: %[[INTO:.*]] = "dovetail.destination"(%{{.*}}) {proof = "not read"}
  // CHECK-NEXT: call @forward_update_0(%[[Y]], %[[INTO]])
  func.func @forward(%x: !r, %y: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%y) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // CHECK-NOT: @forward_region_0
  func.func private @forward_region_0(%y: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %y : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}

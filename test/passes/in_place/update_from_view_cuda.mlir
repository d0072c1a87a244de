// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,state-recordable,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t
//
// Catches a region that stores a value twice, since an update starts from it in another shape: a copy, and a launch of
// its own for it. The host shows the one that is stored.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!v2 = !torch.vtensor<[1,5],f32>
!m2 = !torch.tensor<[1,5],f32>
!r2 = !dovetail.ref<!v2, strided<[5, 1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%p: !r, %x: !r2) -> !r2 attributes {dovetail.role = "call"} {
    call @guard(%p, %x) : (!r, !r2) -> ()
    %0:2 = call @forward(%p, %x) : (!r, !r2) -> (!r2, !r)
    "dovetail.write"(%0#1, %p) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#0 : !r2
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r2 {dovetail.name = "x"}) attributes {dovetail.apart = 2 : i64, dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[MEAN:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[1,5],f32>
  // CHECK-NOT: dovetail.alloc
  // CHECK: call @forward_region_0(%{{.*}}, %[[MEAN]])
  // CHECK: %[[HELD:.*]] = torch.copy.to_vtensor %[[MEAN]]
  // CHECK: %[[SHOWN:.*]] = torch.aten.reshape %{{.*}} : !torch.vtensor<[1,5],f32>, !torch.list<int> -> !torch.vtensor<[5],f32>
  // CHECK: %[[MEMORY:.*]] = "dovetail.destination"
  // CHECK: call @forward_update_0(%[[SHOWN]], %[[MEMORY]])
  func.func @forward(%p: !r, %x: !r2) -> (!r2, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%x) : (!r2) -> !v2
    %a = "dovetail.alloc"() : () -> !m2
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a, %b) : (!v, !v2, !m2, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v2
    %3 = torch.copy.to_vtensor %b : !v
    %4 = "dovetail.own"(%2) {requires_grad = false} : (!v2) -> !r2
    %5 = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %4, %5 : !r2, !r
  }
  func.func private @forward_region_0(%p: !v, %x: !v2, %a: !m2, %b: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %five = torch.constant.int 5
    %sizes = torch.prim.ListConstruct %five : (!torch.int) -> !torch.list<int>
    %mean = torch.aten.exp %x : !v2 -> !v2
    %shown = torch.aten.view %mean, %sizes : !v2, !torch.list<int> -> !v
    %new = torch.aten.add.Tensor %p, %shown, %one : !v, !v, !torch.int -> !v
    torch.overwrite.tensor.contents %mean overwrites %a : !v2, !m2
    torch.overwrite.tensor.contents %new overwrites %b : !v, !m
    return
  }
}

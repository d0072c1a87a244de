// RUN: dovetail-opt %s --pass-pipeline='outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='outline-regions' --run-check -o %t
//
// Catches regions that are more than needed (each costs a call), a region that runs before the library call whose result it
// reads, effects out of order, views that stay on the host though only a region reads them, and tags that are left behind.

!m = !torch.vtensor<[2,2],f32>
!rm = !dovetail.ref<!m, strided<[2, 1]>>
module attributes {dovetail.level = "split"} {
  // CHECK: module attributes {dovetail.level = "program"}
  // CHECK-NOT: dovetail.placement
  func.func @call(%x: !rm, %y: !rm) -> (!rm, !rm) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x, %y) : (!rm, !rm) -> (!rm, !rm)
    return %0#0, %0#1 : !rm, !rm
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: ) -> (!dovetail.ref<{{.*}}>, !dovetail.ref<{{.*}}> {dovetail.saved = "private"})
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[Y:.*]] = "dovetail.read"
  // COM: Two independent ops are one region.
  // CHECK-NEXT: %[[A:.*]]:2 = call @forward_region_0(%[[X]], %[[Y]])
  // CHECK-NOT: torch.aten.transpose
  // CHECK: %[[D1:.*]] = torch.operator "torch.aten.bernoulli.p"(%[[A]]#0,
  // CHECK: %[[D2:.*]] = torch.operator "torch.aten.bernoulli.p"(%[[A]]#1,
  // CHECK: %[[MM:.*]] = torch.operator "torch.aten.mm"(%[[D1]], %[[D2]]) {dovetail.reason = "library kernel: contraction"}
  // COM: What reads the library call comes after it; the view moves inside.
  // CHECK: %[[R:.*]] = call @forward_region_1(%[[MM]])
  // CHECK: %[[S:.*]] = torch.operator "torch.aten.sinc"(%[[R]]) {dovetail.fallback, dovetail.reason = "no rule"}
  // CHECK: "dovetail.own"(%[[S]])
  func.func @forward(%x: !rm, %y: !rm) -> (!rm, !rm {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.float 5.000000e-01
    %none = torch.constant.none
    %0 = "dovetail.read"(%x) : (!rm) -> !m
    %1 = "dovetail.read"(%y) : (!rm) -> !m
    %2 = torch.aten.exp %0 {dovetail.placement = "region"} : !m -> !m
    %3 = torch.operator "torch.aten.bernoulli.p"(%2, %half, %none) {dovetail.effect = "draws", dovetail.reason = "has an effect"}
        : (!m, !torch.float, !torch.none) -> !m
    %4 = torch.aten.neg %1 {dovetail.placement = "region"} : !m -> !m
    %5 = torch.operator "torch.aten.bernoulli.p"(%4, %half, %none) {dovetail.effect = "draws", dovetail.reason = "has an effect"}
        : (!m, !torch.float, !torch.none) -> !m
    %6 = torch.aten.mm %3, %5
        {dovetail.placement = "library", dovetail.placement_reason = "library kernel: contraction"} : !m, !m -> !m
    %7 = torch.aten.transpose.int %6, %zero, %one {dovetail.placement = "view"} : !m, !torch.int, !torch.int -> !m
    %8 = torch.aten.relu %7 {dovetail.placement = "region"} : !m -> !m
    %9 = torch.operator "torch.aten.sinc"(%8)
        {dovetail.placement = "fallback", dovetail.placement_reason = "no rule"} : (!m) -> !m
    %o = "dovetail.own"(%9) {requires_grad = false} : (!m) -> !rm
    %p = "dovetail.own"(%5) {requires_grad = false} : (!m) -> !rm
    return %o, %p : !rm, !rm
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-SAME: attributes {dovetail.role = "region"}
  // CHECK-NEXT: torch.aten.exp %{{.*}} : !torch
  // CHECK-NEXT: torch.aten.neg %{{.*}} : !torch
  // CHECK-NEXT: return
  // CHECK-LABEL: func.func private @forward_region_1(
  // CHECK: torch.aten.transpose.int
  // CHECK-NEXT: torch.aten.relu
  // CHECK-NOT: forward_region_2
}

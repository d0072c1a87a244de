// RUN: dovetail-opt %s --pass-pipeline='fold-concatenations,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-concatenations,merge-equal-values' --run-check -o %t
//
// Catches gradients of queries, keys and values that are joined, and then copied again in the order of the projection's
// columns; parts that change places; and a concatenation that is turned where it is read as it is, would be copied
// element by element, could be part of a region, or has sizes that are not known.

!v = !torch.vtensor<[2,3,4,8],f32>
!r = !dovetail.ref<!v, strided<[96, 32, 8, 1]>>
!c = !torch.vtensor<[2,3,8,8],f32>
!s = !torch.vtensor<[2,3,2,4,8],f32>
!t = !torch.vtensor<[2,4,2,3,8],f32>
!rt = !dovetail.ref<!t, strided<[192, 48, 24, 8, 1]>>
!u = !torch.vtensor<[2,8,3,8],f32>
!ru = !dovetail.ref<!u, strided<[192, 24, 8, 1]>>
!rc = !dovetail.ref<!c, strided<[192, 64, 8, 1]>>
!w = !torch.vtensor<[8,2,3,8],f32>
!rw = !dovetail.ref<!w, strided<[48, 24, 8, 1]>>
!o = !torch.vtensor<[?,3,4,8],f32>
!ro = !dovetail.ref<!o, strided<[96, 32, 8, 1]>>
!oc = !torch.vtensor<[?,3,8,8],f32>
!ot = !torch.vtensor<[?,8,3,8],f32>
!rot = !dovetail.ref<!ot, strided<[192, 24, 8, 1]>>

#o = affine_map<()[s0] -> (s0, 3, 4, 8)>
#oc = affine_map<()[s0] -> (s0, 3, 8, 8)>
#ot = affine_map<()[s0] -> (s0, 8, 3, 8)>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%a: !r, %b: !r, %n: !torch.int {dovetail.symbol = 0 : i64}, %p: !ro {dovetail.sizes = #o}, %q: !ro {dovetail.sizes = #o})
      -> (!rt, !ru, !ru, !rc, !ru, !rw, !ru, !rot) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %4 = torch.constant.int 4
    %8 = torch.constant.int 8
    // CHECK-DAG: %[[A:.*]] = "dovetail.read"(%arg0)
    // CHECK-DAG: %[[B:.*]] = "dovetail.read"(%arg1)
    %x = "dovetail.read"(%a) : (!r) -> !v
    %y = "dovetail.read"(%b) : (!r) -> !v
    %parts = torch.prim.ListConstruct %x, %y : (!v, !v) -> !torch.list<vtensor>
    %swap = torch.prim.ListConstruct %0, %2, %1, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>

    // COM: A stack: its parts get a dimension, and are joined along it in the new order.
    // CHECK: %[[A1:.*]] = torch.aten.unsqueeze %[[A]], %int2
    // CHECK: %[[B1:.*]] = torch.aten.unsqueeze %[[B]], %int2
    // CHECK: %[[A2:.*]] = torch.aten.permute %[[A1]]
    // CHECK: %[[B2:.*]] = torch.aten.permute %[[B1]]
    // CHECK: %[[L2:.*]] = torch.prim.ListConstruct %[[A2]], %[[B2]]
    // CHECK: %[[STACK:.*]] = torch.aten.cat %[[L2]], %int2{{.*}} -> !torch.vtensor<[2,4,2,3,8],f32>
    %stack0 = torch.aten.cat %parts, %2 : !torch.list<vtensor>, !torch.int -> !c
    %split = torch.prim.ListConstruct %2, %3, %2, %4, %8 : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %stack1 = torch.aten.view %stack0, %split : !c, !torch.list<int> -> !s
    %order = torch.prim.ListConstruct %0, %3, %2, %1, %4 : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %stack2 = torch.aten.permute %stack1, %order : !s, !torch.list<int> -> !t

    // CHECK: %[[A3:.*]] = torch.aten.permute %[[A]]
    // CHECK: %[[B3:.*]] = torch.aten.permute %[[B]]
    // CHECK: %[[L3:.*]] = torch.prim.ListConstruct %[[A3]], %[[B3]]
    // CHECK: %[[CAT:.*]] = torch.aten.cat %[[L3]], %int1{{.*}} -> !torch.vtensor<[2,8,3,8],f32>
    %cat0 = torch.aten.cat %parts, %2 : !torch.list<vtensor>, !torch.int -> !c
    %cat1 = torch.aten.permute %cat0, %swap : !c, !torch.list<int> -> !u

    // COM: Read as it is, too.
    // CHECK: %[[BOTH:.*]] = torch.aten.cat %{{.*}}, %int2{{.*}} -> !torch.vtensor<[2,3,8,8],f32>
    // CHECK: torch.aten.permute %[[BOTH]]
    %flip = torch.prim.ListConstruct %y, %x : (!v, !v) -> !torch.list<vtensor>
    %both0 = torch.aten.cat %flip, %2 : !torch.list<vtensor>, !torch.int -> !c
    %both1 = torch.aten.permute %both0, %swap : !c, !torch.list<int> -> !u

    // COM: Parts that a region computes.
    // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor
    // CHECK: %[[MADE:.*]] = torch.aten.cat
    // CHECK: torch.aten.permute %[[MADE]]
    %sum = torch.aten.add.Tensor %x, %y, %1 : !v, !v, !torch.int -> !v
    %made = torch.prim.ListConstruct %sum, %x : (!v, !v) -> !torch.list<vtensor>
    %made0 = torch.aten.cat %made, %2 : !torch.list<vtensor>, !torch.int -> !c
    %made1 = torch.aten.permute %made0, %swap : !c, !torch.list<int> -> !u

    // COM: Joined along what becomes the outermost dimension: a region's work.
    // CHECK: %[[OUTER:.*]] = torch.aten.cat %{{.*}}, %int2
    // CHECK: torch.aten.permute %[[OUTER]]
    %again = torch.prim.ListConstruct %x, %x : (!v, !v) -> !torch.list<vtensor>
    %outer0 = torch.aten.cat %again, %2 : !torch.list<vtensor>, !torch.int -> !c
    %first = torch.prim.ListConstruct %2, %0, %1, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %outer1 = torch.aten.permute %outer0, %first : !c, !torch.list<int> -> !w

    // COM: Rows that would not stay together.
    // CHECK: %[[COLUMNS:.*]] = torch.aten.cat %{{.*}}, %int2
    // CHECK: torch.aten.permute %[[COLUMNS]]
    %yy = torch.prim.ListConstruct %y, %y : (!v, !v) -> !torch.list<vtensor>
    %columns0 = torch.aten.cat %yy, %2 : !torch.list<vtensor>, !torch.int -> !c
    %last = torch.prim.ListConstruct %0, %3, %1, %2 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %columns1 = torch.aten.permute %columns0, %last : !c, !torch.list<int> -> !u

    // CHECK: %[[OPEN:.*]] = torch.aten.cat %{{.*}}, %int2{{.*}} -> !torch.vtensor<[?,3,8,8],f32>
    // CHECK: torch.aten.permute %[[OPEN]]
    %px = "dovetail.read"(%p) : (!ro) -> !o
    %qx = "dovetail.read"(%q) : (!ro) -> !o
    %open = torch.prim.ListConstruct %px, %qx : (!o, !o) -> !torch.list<vtensor>
    %open0 = torch.aten.cat %open, %2 {dovetail.sizes = [#oc]} : !torch.list<vtensor>, !torch.int -> !oc
    %open1 = torch.aten.permute %open0, %swap {dovetail.sizes = [#ot]} : !oc, !torch.list<int> -> !ot

    %r0 = "dovetail.own"(%stack2) {requires_grad = false} : (!t) -> !rt
    %r1 = "dovetail.own"(%cat1) {requires_grad = false} : (!u) -> !ru
    %r2 = "dovetail.own"(%both1) {requires_grad = false} : (!u) -> !ru
    %r3 = "dovetail.own"(%both0) {requires_grad = false} : (!c) -> !rc
    %r4 = "dovetail.own"(%made1) {requires_grad = false} : (!u) -> !ru
    %r5 = "dovetail.own"(%outer1) {requires_grad = false} : (!w) -> !rw
    %r6 = "dovetail.own"(%columns1) {requires_grad = false} : (!u) -> !ru
    %r7 = "dovetail.own"(%open1) {requires_grad = false} : (!ot) -> !rot
    // CHECK: "dovetail.own"(%[[STACK]])
    // CHECK: "dovetail.own"(%[[CAT]])
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7 : !rt, !ru, !ru, !rc, !ru, !rw, !ru, !rot
  }
}

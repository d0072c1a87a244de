// RUN: dovetail-opt %s --pass-pipeline='lay-out-stated,verify-level{level=joint}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-stated' --run-check -o %t
// RUN: sed 's/cuda:sm_90/cpu/' %s | dovetail-opt - --pass-pipeline='lay-out-stated' | FileCheck %s --check-prefix=ALONE
//
// Catches queries that ATen copies to the layout in which eager gives them to attention, and heads that it repeats, where a
// region could write both at once; and a copy for the forward beside one for the backward. What lies as stated stays, as do
// what a caller gives, what is small, and what shows an element more than once; and all of it on a CPU.

!h = !torch.vtensor<[2,4,256,64],f32>
!g = !torch.vtensor<[2,2,256,64],f32>
!e = !torch.vtensor<[2,2,2,256,64],f32>
!p = !torch.vtensor<[2,256,4,64],f32>
!m = !torch.vtensor<[2,4,256,256],f32>
!o = !torch.vtensor<[2,1,256,256],f32>
!s = !torch.vtensor<[2,4,8,64],f32>
!x = !torch.vtensor<[512,128],f32>
!w = !torch.vtensor<[128,128],f32>
!rh = !dovetail.ref<!h, strided<[65536, 16384, 64, 1]>>
!rm = !dovetail.ref<!m, strided<[262144, 65536, 256, 1]>>
!rx = !dovetail.ref<!x, strided<[128, 1]>>
!rw = !dovetail.ref<!w, strided<[128, 1]>>
!ro = !dovetail.ref<!o, strided<[65536, 65536, 256, 1]>>
!rs = !dovetail.ref<!s, strided<[2048, 512, 64, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[GIVEN:.*]] = "dovetail.read"(%arg0)
  // CHECK: %[[QUERY:.*]] = torch.aten.sin
  // CHECK: %[[REPEATED:.*]] = torch.aten.view {{.*}} -> !torch.vtensor<[2,4,256,64],f32>
  // CHECK: %[[MASK:.*]] = torch.aten.expand {{.*}} -> !torch.vtensor<[2,4,256,256],f32>
  // COM: The query in the order of memory, shown in its own.
  // CHECK: %[[TURNED:.*]] = torch.aten.permute %[[QUERY]], {{.*}} -> !torch.vtensor<[2,256,4,64],f32>
  // CHECK: %[[WRITTEN:.*]] = torch.aten.clone %[[TURNED]], {{.*}} {dovetail.recompute = "must_recompute"}
  // CHECK: %[[SHOWN:.*]] = torch.aten.permute %[[WRITTEN]], {{.*}} -> !torch.vtensor<[2,4,256,64],f32>
  // CHECK: torch.operator "torch.aten.msort"(%[[SHOWN]])
  // COM: Repeated heads in rows; what a caller gives as it is, and the mask, of which heads share the elements.
  // CHECK: %[[HEADS:.*]] = torch.aten.clone %[[REPEATED]], {{.*}} : {{.*}} -> !torch.vtensor<[2,4,256,64],f32>
  // CHECK: torch.operator "torch.aten.msort"(%[[HEADS]])
  // CHECK: torch.operator "torch.aten.msort"(%[[GIVEN]])
  // CHECK: torch.operator "torch.aten.msort"(%[[MASK]])
  // COM: The same tensor for the next call.
  // CHECK-NEXT: torch.operator "torch.aten.msort"(%[[SHOWN]])
  // COM: In rows it lies as it is computed. What is small ATen copies.
  // CHECK: torch.operator "torch.aten.msort"(%[[QUERY]])
  // CHECK: %[[SMALL:.*]] = torch.aten.exp
  // CHECK: torch.operator "torch.aten.msort"(%[[SMALL]])
  // ALONE-NOT: torch.aten.clone
  func.func @joint(%v: !rh, %x: !rx, %w: !rw, %mask: !ro, %small: !rs) -> (!rh, !rh, !rh, !rm, !rh, !rh, !rs) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %4 = torch.constant.int 4
    %int256 = torch.constant.int 256
    %64 = torch.constant.int 64
    %order = torch.prim.ListConstruct %0, %2, %1, %3 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %apart = torch.prim.ListConstruct %2, %int256, %2, %64 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %more = torch.prim.ListConstruct %2, %2, %2, %int256, %64 : (!torch.int, !torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %all = torch.prim.ListConstruct %2, %4, %int256, %64 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %masked = torch.prim.ListConstruct %2, %4, %int256, %int256 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %a = "dovetail.read"(%v) : (!rh) -> !h
    %b = "dovetail.read"(%x) : (!rx) -> !x
    %c = "dovetail.read"(%w) : (!rw) -> !w
    %d = "dovetail.read"(%mask) : (!ro) -> !o
    %e = "dovetail.read"(%small) : (!rs) -> !s
    %query = torch.aten.sin %a {dovetail.recompute = "must_recompute"} : !h -> !h
    %product = torch.aten.mm %b, %c : !x, !w -> !x
    %split = torch.aten.view %product, %apart : !x, !torch.list<int> -> !torch.vtensor<[2,256,2,64],f32>
    %heads = torch.aten.permute %split, %order : !torch.vtensor<[2,256,2,64],f32>, !torch.list<int> -> !g
    %one = torch.aten.unsqueeze %heads, %2 : !g, !torch.int -> !torch.vtensor<[2,2,1,256,64],f32>
    %many = torch.aten.expand %one, %more, %false : !torch.vtensor<[2,2,1,256,64],f32>, !torch.list<int>, !torch.bool -> !e
    %repeated = torch.aten.view %many, %all : !e, !torch.list<int> -> !h
    %wide = torch.aten.expand %d, %masked, %false : !o, !torch.list<int>, !torch.bool -> !m
    %f = torch.operator "torch.aten.msort"(%query) {dovetail.reason = "a test", dovetail.strides = [array<i64: 65536, 64, 256, 1>]} : (!h) -> !h
    %k = torch.operator "torch.aten.msort"(%repeated) {dovetail.reason = "a test", dovetail.strides = [array<i64: 65536, 16384, 64, 1>]} : (!h) -> !h
    %u = torch.operator "torch.aten.msort"(%a) {dovetail.reason = "a test", dovetail.strides = [array<i64: 65536, 64, 256, 1>]} : (!h) -> !h
    %y = torch.operator "torch.aten.msort"(%wide) {dovetail.reason = "a test", dovetail.strides = [array<i64: 65536, 0, 256, 1>]} : (!m) -> !m
    %z = torch.operator "torch.aten.msort"(%query) {dovetail.reason = "a test", dovetail.strides = [array<i64: 65536, 64, 256, 1>]} : (!h) -> !h
    %sorted = torch.operator "torch.aten.msort"(%query) {dovetail.reason = "a test", dovetail.strides = [array<i64: 65536, 16384, 64, 1>]} : (!h) -> !h
    %few = torch.aten.exp %e : !s -> !s
    %least = torch.operator "torch.aten.msort"(%few) {dovetail.reason = "a test", dovetail.strides = [array<i64: 2048, 64, 256, 1>]} : (!s) -> !s
    %r0 = "dovetail.own"(%f) {requires_grad = false} : (!h) -> !rh
    %r1 = "dovetail.own"(%k) {requires_grad = false} : (!h) -> !rh
    %r2 = "dovetail.own"(%u) {requires_grad = false} : (!h) -> !rh
    %r3 = "dovetail.own"(%y) {requires_grad = false} : (!m) -> !rm
    %r4 = "dovetail.own"(%z) {requires_grad = false} : (!h) -> !rh
    %r5 = "dovetail.own"(%sorted) {requires_grad = false} : (!h) -> !rh
    %r6 = "dovetail.own"(%least) {requires_grad = false} : (!s) -> !rs
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6 : !rh, !rh, !rh, !rm, !rh, !rh, !rs
  }
}

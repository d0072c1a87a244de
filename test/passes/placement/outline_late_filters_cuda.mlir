// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
//
// Catches a copy by ATen for each gradient of filters that a GPU's library gives channels last: regions lay them out in rows
// together, after all else.

!v = !torch.vtensor<[64,576],f32>
!s = !torch.vtensor<[64,64],f32>
!l = !torch.vtensor<[64,3,3,64],f32>
!f = !torch.vtensor<[64,64,3,3],f32>
!r = !dovetail.ref<!v, strided<[576, 1]>>
!rs = !dovetail.ref<!s, strided<[64, 1]>>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rs, %y: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x, %y) : (!rs, !r) -> !r
    return %0 : !r
  }
  func.func private @apply(!rs, !r) -> !r attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
  func.func @forward(%x: !rs, %y: !r) -> (!r, !s {dovetail.saved = "private"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rs) -> !s
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = torch.aten.mm %0, %1 : !s, !v -> !v
    %3 = "dovetail.own"(%2) {requires_grad = true} : (!v) -> !r
    return %3, %0 : !r, !s
  }
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.clone
  // CHECK: torch.operator "torch.aten.mm"
  // CHECK: %[[MIDDLE:.*]] = call @backward_region
  // CHECK-NOT: torch.aten.clone
  // CHECK: torch.operator "torch.aten.mm"({{.*}}, %[[MIDDLE]])
  // CHECK: %[[BOTH:.*]]:2 = call @backward_region
  // CHECK: return %[[BOTH]]#{{[01]}}, %[[BOTH]]#{{[01]}}
  func.func @backward(%a: !s, %g: !r {dovetail.tangent_of = 0 : i64}) -> (!f, !f) attributes {dovetail.role = "backward"} {
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %int3 = torch.constant.int 3
    %int64 = torch.constant.int 64
    %sizes = torch.prim.ListConstruct %int64, %int3, %int3, %int64 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %rows = torch.prim.ListConstruct %int0, %int3, %int1, %int2 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%g) : (!r) -> !v
    %1 = torch.aten.mm %a, %0 : !s, !v -> !v
    %2 = torch.aten.view %1, %sizes : !v, !torch.list<int> -> !l
    %3 = torch.aten.permute %2, %rows : !l, !torch.list<int> -> !f
    %4 = torch.aten.clone %3, %int0 : !f, !torch.int -> !f
    %5 = torch.aten.relu %1 : !v -> !v
    %6 = torch.aten.mm %a, %5 : !s, !v -> !v
    %7 = torch.aten.view %6, %sizes : !v, !torch.list<int> -> !l
    %8 = torch.aten.permute %7, %rows : !l, !torch.list<int> -> !f
    %9 = torch.aten.clone %8, %int0 : !f, !torch.int -> !f
    return %4, %9 : !f, !f
  }
}

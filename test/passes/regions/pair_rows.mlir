// RUN: dovetail-opt %s --pass-pipeline='pair-rows,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=pair-rows --run-check -o %t
//
// Catches rows of which IREE would compute each exponential twice, and loops over other elements cut as small as two.

!v = !torch.vtensor<[40,300],f32>
!m = !torch.tensor<[40,300],f32>
!s = !torch.vtensor<[40,1],f32>
!r = !dovetail.ref<!v, strided<[300, 1]>>
!c = !torch.vtensor<[300],f32>
!n = !torch.tensor<[300],f32>
!d = !dovetail.ref<!c, strided<[1]>>
!w = !torch.vtensor<[40,320],f32>
!o = !torch.tensor<[40,320],f32>
!t = !dovetail.ref<!w, strided<[320, 1]>>

module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %w: !t) -> (!r, !r, !d, !t) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %w) : (!r, !t) -> (!r, !r, !d, !t)
    return %0#0, %0#1, %0#2, %0#3 : !r, !r, !d, !t
  }
  func.func @forward(%x: !r, %w: !t) -> (!r, !r, !d, !t) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%w) : (!t) -> !w
    %a = "dovetail.alloc"() : () -> !m
    call @rows(%0, %a) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"() : () -> !n
    call @columns_too(%0, %b, %c) : (!v, !m, !n) -> ()
    %3 = torch.copy.to_vtensor %b : !v
    %4 = torch.copy.to_vtensor %c : !c
    %d = "dovetail.alloc"() : () -> !o
    call @whole_vectors(%1, %d) : (!w, !o) -> ()
    %5 = torch.copy.to_vtensor %d : !w
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!c) -> !d
    %u = "dovetail.own"(%5) {requires_grad = false} : (!w) -> !t
    return %o, %p, %q, %u : !r, !r, !d, !t
  }
  // CHECK: func.func private @rows({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region", dovetail.variant = "rows-by-twos"}
  func.func private @rows(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %last = torch.constant.int -1
    %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %none = torch.constant.none
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %2 = torch.aten.div.Tensor %0, %1 : !v, !s -> !v
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    return
  }
  // CHECK: func.func private @columns_too({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @columns_too(%x: !v, %a: !m, %b: !n) attributes {dovetail.role = "region"} {
    %first = torch.constant.int 0
    %last = torch.constant.int -1
    %rows = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
    %columns = torch.prim.ListConstruct %first : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.sum.dim_IntList %0, %rows, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %2 = torch.aten.div.Tensor %0, %1 : !v, !s -> !v
    %3 = torch.aten.sum.dim_IntList %x, %columns, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !c
    torch.overwrite.tensor.contents %2 overwrites %a : !v, !m
    torch.overwrite.tensor.contents %3 overwrites %b : !c, !n
    return
  }
  // CHECK: func.func private @whole_vectors({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @whole_vectors(%x: !w, %a: !o) attributes {dovetail.role = "region"} {
    %last = torch.constant.int -1
    %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
    %true = torch.constant.bool true
    %none = torch.constant.none
    %0 = torch.aten.exp %x : !w -> !w
    %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %none : !w, !torch.list<int>, !torch.bool, !torch.none -> !s
    %2 = torch.aten.div.Tensor %0, %1 : !w, !s -> !w
    torch.overwrite.tensor.contents %2 overwrites %a : !w, !o
    return
  }
}

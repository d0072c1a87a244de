// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,verify-memory,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,verify-memory' --run-check -o %t
//
// Catches a copy of the zeros, or the product, that the rows of an embedding's gradient are added to; an argument that is
// overwritten, or what somebody else reads; and a slice that a GPU's program writes in place, which is not measured there.

!int = !torch.int
!i = !torch.vtensor<[?],si64>
!v = !torch.vtensor<[?,6],f32>
!w = !torch.vtensor<[7,6],f32>
!m = !torch.tensor<[7,6],f32>
!r = !dovetail.ref<!v, strided<[6, 1]>>
!q = !dovetail.ref<!w, strided<[6, 1]>>
#i = affine_map<()[s0] -> (s0)>
#v = affine_map<()[s0] -> (s0, 6)>
module attributes {dovetail.hints = array<i64: 512>, dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #v}, %y: !q) -> (!q, !q, !q, !q, !q, !q, !q, !q) attributes {dovetail.role = "call"} {
    %0:8 = call @forward(%n, %x, %y) : (!int, !r, !q) -> (!q, !q, !q, !q, !q, !q, !q, !q)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7 : !q, !q, !q, !q, !q, !q, !q, !q
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #v}, %y: !q) -> (!q, !q, !q, !q, !q, !q, !q, !q) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %long = torch.constant.int 4
    %six = torch.constant.int 6
    %seven = torch.constant.int 7
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg1)
    // CHECK: %[[Y:.*]] = "dovetail.read"(%arg2)
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#v]} : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!q) -> !w
    %count = torch.prim.ListConstruct %n : (!int) -> !torch.list<int>
    // CHECK: %[[I:.*]] = torch.operator "torch.aten.full"
    %i = torch.operator "torch.aten.full"(%count, %two, %long, %none, %none, %none) {dovetail.reason = "index", dovetail.sizes = [#i]} : (!torch.list<int>, !int, !int, !torch.none, !torch.none, !torch.none) -> !i
    // CHECK: %[[M:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[7,6],f32>
    // CHECK: torch.operator "torch.aten.full"({{.*}}, %[[M]]) {dovetail.reason = "fill"}
    // CHECK: %[[F:.*]] = torch.copy.to_vtensor %[[M]]
    // CHECK: torch.operator "torch.aten.index_add"(%[[F]], %{{.*}}, %[[I]], %[[X]], %{{.*}}, %[[M]]) {dovetail.reason = "rows"}
    // CHECK: torch.copy.to_vtensor %[[M]]
    %size = torch.prim.ListConstruct %seven, %six : (!int, !int) -> !torch.list<int>
    %full = torch.operator "torch.aten.full"(%size, %zero, %six, %none, %none, %none) {dovetail.reason = "fill"} : (!torch.list<int>, !int, !int, !torch.none, !torch.none, !torch.none) -> !w
    %2 = torch.operator "torch.aten.index_add"(%full, %zero, %i, %0, %two) {dovetail.reason = "rows"} : (!w, !int, !i, !v, !int) -> !w
    // CHECK: %[[R:.*]] = "dovetail.alloc"()
    // CHECK: call @region(%[[Y]], %[[R]])
    // CHECK: %[[B:.*]] = torch.copy.to_vtensor %[[R]]
    // CHECK: torch.operator "torch.aten.index_add"(%[[B]], %{{.*}}, %[[I]], %[[X]], %{{.*}}, %[[R]]) {dovetail.reason = "rows"}
    %m = "dovetail.alloc"() : () -> !m
    call @region(%1, %m) : (!w, !m) -> ()
    %base = torch.copy.to_vtensor %m : !w
    %3 = torch.operator "torch.aten.index_add"(%base, %zero, %i, %0, %one) {dovetail.reason = "rows"} : (!w, !int, !i, !v, !int) -> !w
    // COM: What somebody else reads stays, and an argument.
    // CHECK: call @region(%[[Y]], %[[L:.*]]) :
    // CHECK: %[[K:.*]] = torch.copy.to_vtensor %[[L]]
    // CHECK: torch.operator "torch.aten.index_add"(%[[K]], {{.*}}) -> !torch.vtensor<[7,6],f32>
    // CHECK: torch.operator "torch.aten.index_add"(%[[Y]], {{.*}}) -> !torch.vtensor<[7,6],f32>
    %n1 = "dovetail.alloc"() : () -> !m
    call @region(%1, %n1) : (!w, !m) -> ()
    %kept = torch.copy.to_vtensor %n1 : !w
    %4 = torch.operator "torch.aten.index_add"(%kept, %zero, %i, %0, %one) {dovetail.reason = "rows"} : (!w, !int, !i, !v, !int) -> !w
    %5 = torch.operator "torch.aten.index_add"(%1, %zero, %i, %0, %one) {dovetail.reason = "rows"} : (!w, !int, !i, !v, !int) -> !w
    // CHECK: torch.operator "torch.aten.slice_scatter"({{.*}}) -> !torch.vtensor<[7,6],f32>
    %other = torch.operator "torch.aten.full"(%size, %one, %six, %none, %none, %none) {dovetail.reason = "fill"} : (!torch.list<int>, !int, !int, !torch.none, !torch.none, !torch.none) -> !w
    %6 = torch.operator "torch.aten.slice_scatter"(%other, %1, %one, %zero, %six, %one) {dovetail.reason = "slice"} : (!w, !w, !int, !int, !int, !int) -> !w
    // COM: A product is written where rows are added to it, unless it is read besides.
    // CHECK: %[[T:.*]] = torch.aten.t %[[Y]]
    // CHECK: %[[S:.*]] = torch.operator "torch.aten.mm"(%[[T]], %[[Y]])
    // CHECK: %[[P:.*]] = "dovetail.alloc"()
    // CHECK: torch.operator "torch.aten.mm"(%[[Y]], %[[S]], %[[P]])
    // CHECK: %[[A:.*]] = torch.copy.to_vtensor %[[P]]
    // CHECK: torch.operator "torch.aten.index_add"(%[[A]], %{{.*}}, %[[I]], %[[X]], %{{.*}}, %[[P]]) {dovetail.reason = "rows"}
    // CHECK: %[[B:.*]] = torch.operator "torch.aten.mm"(%[[Y]], %[[S]]) {{.*}} -> !torch.vtensor<[7,6],f32>
    // CHECK: torch.operator "torch.aten.index_add"(%[[B]], {{.*}}) {{.*}} -> !torch.vtensor<[7,6],f32>
    %turned = torch.aten.t %1 : !w -> !torch.vtensor<[6,7],f32>
    %square = torch.operator "torch.aten.mm"(%turned, %1) {dovetail.reason = "product"} : (!torch.vtensor<[6,7],f32>, !w) -> !torch.vtensor<[6,6],f32>
    %product = torch.operator "torch.aten.mm"(%1, %square) {dovetail.reason = "product"} : (!w, !torch.vtensor<[6,6],f32>) -> !w
    %7 = torch.operator "torch.aten.index_add"(%product, %zero, %i, %0, %one) {dovetail.reason = "rows"} : (!w, !int, !i, !v, !int) -> !w
    %read = torch.operator "torch.aten.mm"(%1, %square) {dovetail.reason = "product"} : (!w, !torch.vtensor<[6,6],f32>) -> !w
    %8 = torch.operator "torch.aten.index_add"(%read, %zero, %i, %0, %one) {dovetail.reason = "rows"} : (!w, !int, !i, !v, !int) -> !w
    %9 = torch.operator "torch.aten.mul.Tensor"(%8, %read) {dovetail.reason = "small"} : (!w, !w) -> !w
    %o0 = "dovetail.own"(%2) {requires_grad = false} : (!w) -> !q
    %o1 = "dovetail.own"(%3) {requires_grad = false} : (!w) -> !q
    %o2 = "dovetail.own"(%4) {requires_grad = false} : (!w) -> !q
    %o3 = "dovetail.own"(%5) {requires_grad = false} : (!w) -> !q
    %o4 = "dovetail.own"(%kept) {requires_grad = false} : (!w) -> !q
    %o5 = "dovetail.own"(%6) {requires_grad = false} : (!w) -> !q
    %o6 = "dovetail.own"(%7) {requires_grad = false} : (!w) -> !q
    %o7 = "dovetail.own"(%9) {requires_grad = false} : (!w) -> !q
    return %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7 : !q, !q, !q, !q, !q, !q, !q, !q
  }
  func.func private @region(%x: !w, %m: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !w -> !w
    torch.overwrite.tensor.contents %0 overwrites %m : !w, !m
    return
  }
}

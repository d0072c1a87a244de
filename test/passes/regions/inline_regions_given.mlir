// RUN: dovetail-opt %s --pass-pipeline='write-scattered,inline-regions{regions=region},plan-memory,verify-memory,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,inline-regions{regions=region},plan-memory,verify-memory' --run-check -o %t
//
// Catches a crash, or rows and slices that are lost, where a region whose memory library calls write into becomes
// library calls: its memory is gone then, and what reads it behind them took what the region had left there.

!int = !torch.int
!n = !torch.vtensor<[?,6],f32>
!i = !torch.vtensor<[2],si64>
!x = !torch.vtensor<[2,6],f32>
!h = !torch.vtensor<[7,3],f32>
!w = !torch.vtensor<[7,6],f32>
!u = !torch.tensor<[?,6],f32>
!m = !torch.tensor<[7,6],f32>
!p = !dovetail.ref<!x, strided<[6, 1]>>
!o = !dovetail.ref<!n, strided<[6, 1]>>
!q = !dovetail.ref<!w, strided<[6, 1]>>
#n = affine_map<()[s0] -> (s0, 6)>
module attributes {dovetail.hints = array<i64: 7>, dovetail.level = "regions"} {
  func.func @call(%n: !int {dovetail.range = array<i64: 3, 9>, dovetail.symbol = 0 : i64}, %x: !p, %y: !q, %z: !o {dovetail.sizes = #n}) -> (!q, !q, !o) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%n, %x, %y, %z) : (!int, !p, !q, !o) -> (!q, !q, !o)
    return %0#0, %0#1, %0#2 : !q, !q, !o
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !int {dovetail.range = array<i64: 3, 9>, dovetail.symbol = 0 : i64}, %x: !p, %y: !q, %z: !o {dovetail.sizes = #n}) -> (!q, !q, !o) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %long = torch.constant.int 4
    %end = torch.constant.int 9223372036854775807
    // CHECK-NOT: dovetail.alloc
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg1)
    // CHECK: %[[Y:.*]] = "dovetail.read"(%arg2)
    // CHECK: %[[Z:.*]] = "dovetail.read"(%arg3)
    // CHECK: %[[I:.*]] = torch.operator "torch.aten.full"
    %0 = "dovetail.read"(%x) : (!p) -> !x
    %1 = "dovetail.read"(%y) : (!q) -> !w
    %2 = "dovetail.read"(%z) {dovetail.sizes = [#n]} : (!o) -> !n
    %count = torch.prim.ListConstruct %two : (!int) -> !torch.list<int>
    %i = torch.operator "torch.aten.full"(%count, %two, %long, %none, %none, %none) {dovetail.reason = "index"} : (!torch.list<int>, !int, !int, !torch.none, !torch.none, !torch.none) -> !i
    // CHECK: %[[A:.*]] = torch.operator "torch.aten.sin"(%[[Y]])
    // CHECK: %[[B:.*]] = torch.operator "torch.aten.cos"(%[[Y]])
    // CHECK: %[[C:.*]] = torch.operator "torch.aten.exp"(%[[Z]]) {{{.*}}dovetail.sizes
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"(%n) {dovetail.sizes = [#n]} : (!int) -> !u
    call @region(%n, %1, %2, %a, %b, %c) : (!int, !w, !n, !m, !m, !u) -> ()
    %3 = torch.copy.to_vtensor %a : !w
    %4 = torch.copy.to_vtensor %b : !w
    %5 = torch.copy.to_vtensor %c {dovetail.sizes = [#n]} : !n
    // CHECK: %[[D:.*]] = torch.operator "torch.aten.index_add"(%[[A]], %{{.*}}, %[[I]], %[[X]], %{{.*}}) {dovetail.reason = "rows"}
    %6 = torch.operator "torch.aten.index_add"(%3, %zero, %i, %0, %one) {dovetail.reason = "rows"} : (!w, !int, !i, !x, !int) -> !w
    // CHECK: %[[H:.*]] = torch.aten.slice.Tensor %[[Y]]
    // CHECK: %[[S:.*]] = torch.operator "torch.aten.neg"(%[[H]]) {dovetail.reason = "part"}
    // CHECK: %[[E:.*]] = torch.operator "torch.aten.slice_scatter"(%[[B]], %[[S]], {{.*}}) {dovetail.reason = "slice"}
    %7 = torch.aten.slice.Tensor %1, %one, %zero, %end, %two : !w, !int, !int, !int, !int -> !h
    %8 = torch.operator "torch.aten.neg"(%7) {dovetail.reason = "part"} : (!h) -> !h
    %9 = torch.operator "torch.aten.slice_scatter"(%4, %8, %one, %zero, %end, %two) {dovetail.reason = "slice"} : (!w, !h, !int, !int, !int, !int) -> !w
    // CHECK: %[[F:.*]] = torch.operator "torch.aten.index_add"(%[[C]], %{{.*}}, %[[I]], %[[X]], %{{.*}}) {{{.*}}dovetail.sizes
    %10 = torch.operator "torch.aten.index_add"(%5, %zero, %i, %0, %one) {dovetail.reason = "rows", dovetail.sizes = [#n]} : (!n, !int, !i, !x, !int) -> !n
    // CHECK: "dovetail.own"(%[[D]])
    // CHECK: "dovetail.own"(%[[E]])
    // CHECK: "dovetail.own"(%[[F]])
    %d = "dovetail.own"(%6) {requires_grad = false} : (!w) -> !q
    %e = "dovetail.own"(%9) {requires_grad = false} : (!w) -> !q
    %f = "dovetail.own"(%10) {dovetail.sizes = [#n], requires_grad = false} : (!n) -> !o
    return %d, %e, %f : !q, !q, !o
  }
  func.func private @region(%n: !int {dovetail.range = array<i64: 3, 9>, dovetail.symbol = 0 : i64}, %y: !w, %z: !n {dovetail.sizes = #n}, %a: !m, %b: !m, %c: !u) attributes {dovetail.role = "region"} {
    %0 = torch.aten.sin %y : !w -> !w
    %1 = torch.aten.cos %y : !w -> !w
    %2 = torch.aten.exp %z {dovetail.sizes = [#n]} : !n -> !n
    torch.overwrite.tensor.contents %0 overwrites %a : !w, !m
    torch.overwrite.tensor.contents %1 overwrites %b : !w, !m
    torch.overwrite.tensor.contents %2 overwrites %c : !n, !u
    return
  }
}

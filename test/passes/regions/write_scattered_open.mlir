// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,verify-memory,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,verify-memory' --run-check -o %t
//
// Catches memory and parts of it of the sizes that were traced, where rows are open.

!int = !torch.int
!v = !torch.vtensor<[?,6],f32>
!h = !torch.vtensor<[?,3],f32>
!r = !dovetail.ref<!v, strided<[6, 1]>>
!s = !dovetail.ref<!h, strided<[3, 1]>>
#v = affine_map<()[s0] -> (s0, 6)>
#h = affine_map<()[s0] -> (s0, 3)>
module attributes {dovetail.hints = array<i64: 512>, dovetail.level = "regions"} {
  func.func @call(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !s {dovetail.sizes = #h}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %x) : (!int, !s) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[N:[^:]*]]: !torch.int
  func.func @forward(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !s {dovetail.sizes = #h}) -> !r attributes {dovetail.role = "forward"} {
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg1)
    // CHECK: %[[M:.*]] = "dovetail.alloc"(%[[N]]) {{.*}}-> !torch.tensor<[?,6],f32>
    // CHECK: torch.operator "torch.aten.full"({{.*}}, %[[M]])
    // CHECK: %[[P:.*]] = "dovetail.part"(%[[M]]{{.*}}) {dim = 1 : i64, {{.*}}start = 1 : i64, step = 2 : i64} : {{.*}} -> !torch.tensor<[?,3],f32>
    // CHECK: torch.operator "torch.aten.mul.Scalar"(%[[X]], %{{.*}}, %[[P]])
    // CHECK: torch.operator "torch.aten.slice_scatter"({{.*}}, %[[M]])
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %six = torch.constant.int 6
    %end = torch.constant.int 9223372036854775807
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#h]} : (!s) -> !h
    %size = torch.prim.ListConstruct %n, %six : (!int, !int) -> !torch.list<int>
    %1 = torch.operator "torch.aten.full"(%size, %zero, %six, %none, %none, %none) {dovetail.reason = "fill", dovetail.sizes = [#v]} : (!torch.list<int>, !int, !int, !torch.none, !torch.none, !torch.none) -> !v
    %2 = torch.operator "torch.aten.mul.Scalar"(%0, %two) {dovetail.reason = "source", dovetail.sizes = [#h]} : (!h, !int) -> !h
    %3 = torch.operator "torch.aten.slice_scatter"(%1, %2, %one, %one, %end, %two) {dovetail.reason = "scatter", dovetail.sizes = [#v]} : (!v, !h, !int, !int, !int, !int) -> !v
    %4 = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %4 : !r
  }
}

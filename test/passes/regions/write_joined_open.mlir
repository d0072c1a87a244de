// RUN: dovetail-opt %s --pass-pipeline='write-joined,plan-memory,verify-memory,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='write-joined,plan-memory,verify-memory' --run-check -o %t
//
// Catches parts of open sizes that begin where they were traced to begin; and a join of tensors that are only known to be
// alike if it fails, or of a size that only data tells, before which its memory would be made.

!int = !torch.int
!v = !torch.vtensor<[?,?],f32>
!r = !dovetail.ref<!v, strided<[?, 1]>>
#x = affine_map<()[s0, s1] -> (s0, s1)>
#y = affine_map<()[s0, s1, s2] -> (s0, s2)>
#z = affine_map<()[s0, s1, s2, s3] -> (s3, s2)>
#xy = affine_map<()[s0, s1, s2] -> (s0, s1 + s2 + s1)>
#zz = affine_map<()[s0, s1, s2, s3] -> (s3, s2 + s2)>
#yz = affine_map<()[s0, s1, s2] -> (s0, s2 * 2)>
#u = affine_map<()[s0, s1, s2, s3, s4] -> (s4, 1)>
#uu = affine_map<()[s0, s1, s2, s3, s4] -> (s4, 2)>
module attributes {dovetail.hints = array<i64: 512, 256, 256, 512, 100000>, dovetail.level = "regions"} {
  func.func @call(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %a: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 2 : i64}, %x: !r {dovetail.sizes = #x, dovetail.strides = affine_map<()[s0, s1] -> (s1, 1)>}, %y: !r {dovetail.sizes = #y, dovetail.strides = affine_map<()[s0, s1, s2] -> (s2, 1)>}) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%n, %a, %b, %x, %y) : (!int, !int, !int, !r, !r) -> !r
    return %0 : !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-SAME: %[[N:[^:]*]]: !torch.int {{[^%]*}}%[[A:[^:]*]]: !torch.int {{[^%]*}}%[[B:[^:]*]]: !torch.int
  func.func @forward(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %a: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 2 : i64}, %x: !r {dovetail.sizes = #x, dovetail.strides = affine_map<()[s0, s1] -> (s1, 1)>}, %y: !r {dovetail.sizes = #y, dovetail.strides = affine_map<()[s0, s1, s2] -> (s2, 1)>}) -> !r attributes {dovetail.role = "forward"} {
    // CHECK: %[[X:.*]] = "dovetail.read"
    // CHECK: %[[Y:.*]] = "dovetail.read"
    // CHECK: %[[M:.*]] = "dovetail.alloc"(%[[N]], %{{.*}}) {{.*}} -> !torch.tensor<[?,?],f32>
    // CHECK: %[[P:.*]] = "dovetail.part"(%[[M]], %[[A]]) {dim = 1 : i64, {{.*}}start = 0 : i64}
    // CHECK: torch.operator "torch.aten.exp"(%[[X]], %[[P]])
    // CHECK: %[[S:.*]] = torch.aten.add.int %[[A]], %[[B]]
    // CHECK: %[[Q:.*]] = "dovetail.part"(%[[M]], %[[S]], %[[A]]) {dim = 1 : i64, {{.*}}start = -9223372036854775808 : i64}
    // CHECK: torch.operator "torch.aten.neg"(%[[X]], %[[Q]])
    // CHECK: torch.operator "torch.aten.cat"(%{{.*}}, %{{.*}}, %[[M]])
    // CHECK: torch.copy.to_vtensor %[[M]] {dovetail.sizes
    %last = torch.constant.int -1
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#x]} : (!r) -> !v
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#y]} : (!r) -> !v
    %2 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "one", dovetail.sizes = [#x]} : (!v) -> !v
    %3 = torch.operator "torch.aten.neg"(%0) {dovetail.reason = "one", dovetail.sizes = [#x]} : (!v) -> !v
    %4 = torch.prim.ListConstruct %2, %1, %3 : (!v, !v, !v) -> !torch.list<vtensor>
    %5 = torch.operator "torch.aten.cat"(%4, %last) {dovetail.reason = "two", dovetail.sizes = [#xy]} : (!torch.list<vtensor>, !int) -> !v
    %s0 = torch.aten.add.int %a, %b : !int, !int -> !int
    %s1 = torch.aten.add.int %s0, %a : !int, !int -> !int
    %o = "dovetail.own"(%5, %s1) {requires_grad = false} : (!v, !int) -> !r
    return %o : !r
  }
  // CHECK-LABEL: func.func @other(
  // CHECK-NOT: dovetail.part
  func.func @other(%n: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %b: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 2 : i64}, %m: !int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 3 : i64}, %y: !v {dovetail.sizes = #y}, %z: !v {dovetail.sizes = #z}, %k: !torch.vtensor<[2],i1>) -> (!v, !v) attributes {dovetail.role = "subgraph"} {
    %last = torch.constant.int -1
    %0 = torch.operator "torch.aten.exp"(%y) {dovetail.reason = "one", dovetail.sizes = [#y]} : (!v) -> !v
    %1 = torch.prim.ListConstruct %z, %0 : (!v, !v) -> !torch.list<vtensor>
    %2 = torch.operator "torch.aten.cat"(%1, %last) {dovetail.reason = "two", dovetail.sizes = [#yz]} : (!torch.list<vtensor>, !int) -> !v
    %3 = torch.operator "torch.aten.nonzero"(%k) {dovetail.reason = "three", dovetail.sizes = [#u]} : (!torch.vtensor<[2],i1>) -> !v
    %zero = torch.constant.int 0
    %s = torch.operator "torch.aten.sym_size.int"(%3, %zero) {dovetail.range = array<i64: 0, 9>, dovetail.reason = "four", dovetail.symbol = 4 : i64} : (!v, !int) -> !int
    %4 = torch.operator "torch.aten.exp"(%3) {dovetail.reason = "one", dovetail.sizes = [#u]} : (!v) -> !v
    %5 = torch.prim.ListConstruct %4, %3 : (!v, !v) -> !torch.list<vtensor>
    %6 = torch.operator "torch.aten.cat"(%5, %last) {dovetail.reason = "two", dovetail.sizes = [#uu]} : (!torch.list<vtensor>, !int) -> !v
    return %2, %6 : !v, !v
  }
}

// RUN: dovetail-opt %s --pass-pipeline='write-joined,plan-memory,verify-memory,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='write-joined,plan-memory,verify-memory' --run-check -o %t
//
// Catches a result that is computed beside the tensor that it is joined to and copied; parts in the wrong places; and one
// that something else needs, too; and a second concatenation in a function, whose memory was looked for among ops that the
// first one's had replaced.

!v = !torch.vtensor<[256,256],f32>
!j = !torch.vtensor<[256,768],f32>
!r = !dovetail.ref<!v, strided<[256, 1]>>
!s = !dovetail.ref<!j, strided<[768, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> (!s, !s, !r, !s) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x) : (!r) -> (!s, !s, !r, !s)
    return %0#0, %0#1, %0#2, %0#3 : !s, !s, !r, !s
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%x: !r) -> (!s, !s, !r, !s) attributes {dovetail.role = "forward"} {
    %last = torch.constant.int -1
    %two = torch.constant.int 2
    %0 = "dovetail.read"(%x) : (!r) -> !v
    // CHECK: %[[X:.*]] = "dovetail.read"
    // CHECK: %[[M:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[256,768],f32>
    // CHECK: %[[A:.*]] = "dovetail.part"(%[[M]]) {dim = 1 : i64, start = 0 : i64}
    // CHECK: torch.operator "torch.aten.mul.Scalar"(%[[X]], %{{.*}}, %[[A]]) {dovetail.reason = "one"} : ({{.*}}) -> ()
    // CHECK: %[[V:.*]] = torch.copy.to_vtensor %[[A]]
    // CHECK: %[[C:.*]] = "dovetail.part"(%[[M]]) {dim = 1 : i64, start = 512 : i64}
    // CHECK: torch.operator "torch.aten.exp"(%[[X]], %[[C]]) {dovetail.reason = "two"} : ({{.*}}) -> ()
    // CHECK: %[[W:.*]] = torch.copy.to_vtensor %[[C]]
    // CHECK: %[[L:.*]] = torch.prim.ListConstruct %[[V]], %[[X]], %[[W]]
    // CHECK: torch.operator "torch.aten.cat"(%[[L]], %{{.*}}, %[[M]]) {dovetail.reason = "three"} : ({{.*}}) -> ()
    // CHECK: %[[J:.*]] = torch.copy.to_vtensor %[[M]]
    %1 = torch.operator "torch.aten.mul.Scalar"(%0, %two) {dovetail.reason = "one"} : (!v, !torch.int) -> !v
    %2 = torch.operator "torch.aten.exp"(%0) {dovetail.reason = "two"} : (!v) -> !v
    %3 = torch.prim.ListConstruct %1, %0, %2 : (!v, !v, !v) -> !torch.list<vtensor>
    %4 = torch.operator "torch.aten.cat"(%3, %last) {dovetail.reason = "three"} : (!torch.list<vtensor>, !torch.int) -> !j
    // COM: Used twice, or of an op whose results PyTorch copies to `out`.
    // CHECK: torch.operator "torch.aten.neg"
    // CHECK: torch.operator "torch.aten.pow.Tensor_Scalar"
    // CHECK: torch.operator "torch.aten.cat"(
    %5 = torch.operator "torch.aten.neg"(%0) {dovetail.reason = "one"} : (!v) -> !v
    %6 = torch.operator "torch.aten.pow.Tensor_Scalar"(%0, %two) {dovetail.reason = "two"} : (!v, !torch.int) -> !v
    %7 = torch.prim.ListConstruct %5, %0, %6 : (!v, !v, !v) -> !torch.list<vtensor>
    %8 = torch.operator "torch.aten.cat"(%7, %last) {dovetail.reason = "three"} : (!torch.list<vtensor>, !torch.int) -> !j
    // CHECK: %[[N:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[256,768],f32>
    // CHECK: "dovetail.part"(%[[N]]) {dim = 1 : i64, start = 0 : i64}
    // CHECK: "dovetail.part"(%[[N]]) {dim = 1 : i64, start = 256 : i64}
    // CHECK: torch.operator "torch.aten.cat"({{.*}}, %[[N]])
    %9 = torch.operator "torch.aten.sin"(%0) {dovetail.reason = "one"} : (!v) -> !v
    %10 = torch.operator "torch.aten.cos"(%0) {dovetail.reason = "one"} : (!v) -> !v
    %11 = torch.prim.ListConstruct %9, %10, %0 : (!v, !v, !v) -> !torch.list<vtensor>
    %12 = torch.operator "torch.aten.cat"(%11, %last) {dovetail.reason = "three"} : (!torch.list<vtensor>, !torch.int) -> !j
    %o = "dovetail.own"(%4) {requires_grad = false} : (!j) -> !s
    %p = "dovetail.own"(%8) {requires_grad = false} : (!j) -> !s
    %q = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    %t = "dovetail.own"(%12) {requires_grad = false} : (!j) -> !s
    return %o, %p, %q, %t : !s, !s, !r, !s
  }
}

// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,verify-memory,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='write-scattered,plan-memory,verify-memory' --run-check -o %t
//
// Catches a slice that is computed beside the tensor that it is scattered into, and a clone of that tensor; memory that is
// overwritten though somebody else reads it; one fill for two results; and numbers of another type written as they are.

!v = !torch.vtensor<[4,6],f32>
!h = !torch.vtensor<[4,3],f32>
!d = !torch.vtensor<[4,3],f64>
!m = !torch.tensor<[4,6],f32>
!r = !dovetail.ref<!v, strided<[6, 1]>>
!s = !dovetail.ref<!h, strided<[3, 1]>>
!t = !dovetail.ref<!d, strided<[3, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !s, %y: !r, %z: !t) -> (!r, !r, !r, !r, !r, !r) attributes {dovetail.role = "call"} {
    %0:6 = call @forward(%x, %y, %z) : (!s, !r, !t) -> (!r, !r, !r, !r, !r, !r)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5 : !r, !r, !r, !r, !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%x: !s, %y: !r, %z: !t) -> (!r, !r, !r, !r, !r, !r) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %last = torch.constant.int -1
    %two = torch.constant.int 2
    %four = torch.constant.int 4
    %six = torch.constant.int 6
    %end = torch.constant.int 9223372036854775807
    %0 = "dovetail.read"(%x) : (!s) -> !h
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = "dovetail.read"(%z) : (!t) -> !d
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK: %[[Y:.*]] = "dovetail.read"(%arg1)
    // CHECK: %[[Z:.*]] = "dovetail.read"(%arg2)
    %size = torch.prim.ListConstruct %four, %six : (!torch.int, !torch.int) -> !torch.list<int>
    %full = torch.operator "torch.aten.full"(%size, %zero, %six, %none, %none, %none) {dovetail.reason = "fill"} : (!torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none) -> !v
    // COM: The fill of two tensors is one for each.
    // CHECK: %[[M:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[4,6],f32>
    // CHECK: torch.operator "torch.aten.full"({{.*}}, %[[M]]) {dovetail.reason = "fill"}
    // CHECK: %[[F:.*]] = torch.copy.to_vtensor %[[M]]
    // CHECK: %[[P:.*]] = "dovetail.part"(%[[M]]) {dim = 1 : i64, start = 1 : i64, step = 2 : i64} : (!torch.tensor<[4,6],f32>) -> !torch.tensor<[4,3],f32>
    // CHECK: torch.operator "torch.aten.mul.Scalar"(%[[X]], %{{.*}}, %[[P]])
    // CHECK: %[[S:.*]] = torch.copy.to_vtensor %[[P]]
    // CHECK: torch.operator "torch.aten.slice_scatter"(%[[F]], %[[S]], {{.*}}, %[[M]]) {dovetail.reason = "scatter"}
    // CHECK: torch.copy.to_vtensor %[[M]]
    %3 = torch.operator "torch.aten.mul.Scalar"(%0, %two) {dovetail.reason = "source"} : (!h, !torch.int) -> !h
    %4 = torch.operator "torch.aten.slice_scatter"(%full, %3, %last, %one, %end, %two) {dovetail.reason = "scatter"} : (!v, !h, !torch.int, !torch.int, !torch.int, !torch.int) -> !v
    // CHECK: %[[N:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[4,6],f32>
    // CHECK: torch.operator "torch.aten.full"({{.*}}, %[[N]])
    // CHECK: %[[G:.*]] = torch.copy.to_vtensor %[[N]]
    // CHECK: torch.operator "torch.aten.slice_scatter"(%[[G]], %[[X]], {{.*}}, %[[N]])
    %5 = torch.operator "torch.aten.slice_scatter"(%full, %0, %one, %none, %end, %two) {dovetail.reason = "scatter"} : (!v, !h, !torch.int, !torch.none, !torch.int, !torch.int) -> !v
    // COM: What a region made for it alone is overwritten; what is computed before the region runs is copied there.
    // CHECK: %[[W:.*]] = torch.operator "torch.aten.neg"(%[[X]]) {dovetail.reason = "early"} : (!torch.vtensor<[4,3],f32>) -> !torch.vtensor<[4,3],f32>
    // CHECK: %[[R:.*]] = "dovetail.alloc"()
    // CHECK: call @region(%[[Y]], %[[R]])
    // CHECK: %[[B:.*]] = torch.copy.to_vtensor %[[R]]
    // CHECK: torch.operator "torch.aten.slice_scatter"(%[[B]], %[[W]], {{.*}}, %[[R]])
    %early = torch.operator "torch.aten.neg"(%0) {dovetail.reason = "early"} : (!h) -> !h
    %m = "dovetail.alloc"() : () -> !m
    call @region(%1, %m) : (!v, !m) -> ()
    %base = torch.copy.to_vtensor %m : !v
    %6 = torch.operator "torch.aten.slice_scatter"(%base, %early, %one, %zero, %end, %two) {dovetail.reason = "scatter"} : (!v, !h, !torch.int, !torch.int, !torch.int, !torch.int) -> !v
    // COM: What somebody else reads stays, and an argument.
    // CHECK: call @region(%[[Y]], %[[L:.*]]) :
    // CHECK: %[[K:.*]] = torch.copy.to_vtensor %[[L]]
    // CHECK: torch.operator "torch.aten.slice_scatter"(%[[K]], {{.*}}) -> !torch.vtensor<[4,6],f32>
    %n = "dovetail.alloc"() : () -> !m
    call @region(%1, %n) : (!v, !m) -> ()
    %kept = torch.copy.to_vtensor %n : !v
    %7 = torch.operator "torch.aten.slice_scatter"(%kept, %0, %one, %zero, %end, %two) {dovetail.reason = "scatter"} : (!v, !h, !torch.int, !torch.int, !torch.int, !torch.int) -> !v
    // CHECK: torch.operator "torch.aten.exp"(%[[Z]]) {dovetail.reason = "double"} : ({{.*}}) -> !torch.vtensor<[4,3],f64>
    // CHECK: torch.operator "torch.aten.slice_scatter"({{.*}}, !torch.tensor<[4,6],f32>) -> ()
    %double = torch.operator "torch.aten.exp"(%2) {dovetail.reason = "double"} : (!d) -> !d
    %again = torch.operator "torch.aten.full"(%size, %two, %six, %none, %none, %none) {dovetail.reason = "fill"} : (!torch.list<int>, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none) -> !v
    %8 = torch.operator "torch.aten.slice_scatter"(%again, %double, %one, %zero, %end, %two) {dovetail.reason = "scatter"} : (!v, !d, !torch.int, !torch.int, !torch.int, !torch.int) -> !v
    %o0 = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %o1 = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    %o2 = "dovetail.own"(%6) {requires_grad = false} : (!v) -> !r
    %o3 = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    %o4 = "dovetail.own"(%8) {requires_grad = false} : (!v) -> !r
    %o5 = "dovetail.own"(%kept) {requires_grad = false} : (!v) -> !r
    return %o0, %o1, %o2, %o3, %o4, %o5 : !r, !r, !r, !r, !r, !r
  }
  func.func private @region(%x: !v, %m: !m) attributes {dovetail.driver = "local-sync", dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %m : !v, !m
    return
  }
}
